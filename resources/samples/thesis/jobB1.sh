#!/bin/sh
# Stands for the program of the description: says how it was called.
echo "jobB1.sh $*"
