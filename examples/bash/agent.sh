#!/usr/bin/env bash
# One message comes in on standard input, as JSON; what goes out on standard output is the answer.
message=$(cat)
words=$(grep -o '"text":"[^"]*"' <<<"$message" | cut -c8- | wc -w)
echo "That was $words words, in task $WAKEUP_TASK_ID."
