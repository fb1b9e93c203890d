#!/bin/sh
# Each of the processes becomes the program that the hook has made.
exec ./plasma "$@"
