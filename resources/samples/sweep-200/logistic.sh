#!/bin/sh
# The logistic map x -> r x (1 - x) for one rate r: its last 32 values, as a table.
awk -v rate="$1" 'BEGIN {
    x = 0.5
    for (i = 0; i < 400; i++) x = rate * x * (1 - x)
    print "rate,x"
    for (i = 0; i < 32; i++) { x = rate * x * (1 - x); printf "%s,%.6f\n", rate, x }
}'
