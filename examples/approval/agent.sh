#!/bin/sh
# Asks a person before it does anything. `lantern connect` runs this again with what the person has decided.
case "${LANTERN_DECISION:-none}" in
  approved) echo "The newsletter was sent." ;;
  rejected) echo '{"state":"failed","text":"A person said no. Nothing was sent."}' ;;
  redirected) echo '{"state":"input_required","text":"The newsletter was changed as you said. May I send it now?"}' ;;
  none) echo '{"state":"input_required","text":"The newsletter is ready. May I send it to 1200 readers?"}' ;;
esac
