#!/bin/sh
# The second link: woken by the event that the first one is done. It gets the event on standard input.
event=$(cat)
case "$event" in
  *'"tool.completed"'*) echo "The first agent is done; publishing its report." ;;
  *'"tool.failed"'*) echo "The first agent failed; nothing to publish." ;;
  *) ;; # It is on its way: nothing to do yet.
esac
