"""The commands of ``python -m lanternroom``: one file a protocol, and one for what all of them touch."""
