"""A box of Landlock and seccomp around a program, without rights (CB-SEC); `box.sh` runs it on nodes."""
