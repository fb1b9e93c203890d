#!/bin/sh
# Counts to three and kills itself.
for number in 1 2 3; do
    echo "step $number"
done
echo "about to be killed" >&2
kill -KILL $$
