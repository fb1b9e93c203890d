#!/bin/sh
# A prompt to look around where a job runs. Needs nothing but a POSIX shell and awk.

tell_help() {
    cat <<'END'
  where    machine, folder, user of this job
  load     how busy the machine is
  files    the files of this job
  size     rows and columns of your terminal
  colours  the colours of the terminal
  draw     a picture, by escape sequences
  count    a counter that stays in its line
  quit     end the job
END
}

tell_where() {
    printf '  machine  %s\n  system   %s\n  folder   %s\n  user     %s\n' \
        "$(uname -n)" "$(uname -sr)" "$(pwd)" "$(id -un 2>/dev/null || id -u)"
}

tell_size() {
    now=$(stty size 2>/dev/null) || now=
    [ -n "$now" ] && printf '  %s rows, %s columns\n' "${now% *}" "${now#* }" || echo "  no terminal: lines only"
}

show_colours() {
    awk 'BEGIN {
        for (colour = 16; colour < 232; colour++) {
            printf "\033[48;5;%dm ", colour
            if ((colour - 15) % 36 == 0) printf "\033[0m\n"
        }
    }'
}

# The Mandelbrot set, as wide as the terminal; each character is a point with its own background.
draw() {
    now=$(stty size 2>/dev/null) || now=
    awk -v width="${now#* }" 'BEGIN {
        if (width < 1 || width > 64) width = 64
        height = int(width * 0.37)
        for (row = 0; row < height; row++) {
            for (column = 0; column < width; column++) {
                a = column / width * 3.1 - 2.05; b = (row + 0.5) / height * 2.5 - 1.25; x = y = steps = 0
                while (x * x + y * y < 4 && steps < 60) { t = x * x - y * y + a; y = 2 * x * y + b; x = t; steps++ }
                if (steps == 60) printf "\033[48;2;0;0;0m "
                else printf "\033[48;2;%d;%d;%dm ", (steps * 9) % 256, (40 + steps * 14) % 256, (90 + steps * 20) % 256
            }
            printf "\033[0m\n"
        }
    }'
}

count() {
    for number in 1 2 3 4 5 6 7 8 9 10; do
        printf '\r  \033[32m%2d\033[0m of 10' "$number"
        sleep 0.1 2>/dev/null || sleep 1
    done
    printf '\n'
}

printf '\033[1mThis job runs on \033[36m%s\033[0m. Type \033[33mhelp\033[0m.\n' "$(uname -n)"
while printf '\033[1;32mexplore\033[0m> ' && read -r word rest; do
    case $word in
    '') ;;
    help | '?') tell_help ;;
    where) tell_where ;;
    load) uptime 2>/dev/null || cat /proc/loadavg ;;
    files) ls -l ;;
    size) tell_size ;;
    colours | colors) show_colours ;;
    draw) draw ;;
    count) count ;;
    quit | exit) break ;;
    *) printf '  \033[31m%s\033[0m is no command here; help lists them.\n' "$word" ;;
    esac
done
echo "Goodbye."
