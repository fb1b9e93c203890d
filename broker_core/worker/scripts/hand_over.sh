# Hands attempts over to a batch system, in one exchange. What sends it sets `exchange`, defines `status`, which
# lists the batch system's jobs, and calls `take_parcel` or `finish_cut_off`. Runs in the directory of the site.
set -f
locking=
true >"locks/$exchange" || exit 91
if command -v flock >/dev/null 2>&1; then
    exec 7>"locks/$exchange"
    flock 7 2>/dev/null && locking=1
fi
say() { printf '\036%s\n' "$*"; }
# True if no process of exchange $1 is left.
free() {
    [ -e "locks/$1" ] || return 0
    if [ -n "$locking" ]; then flock -n 8 8<>"locks/$1"; else [ -n "$(find "locks/$1" -mmin +5)" ]; fi
}
# Give the attempt of group $1 to a slot of a glidein; repeated it does nothing. The claim is written at once, and none
# that is not whole is heeded. No process is started: short jobs come this way by the thousand.
give_slot() {
    read -r glidein claim line <"groups/$1/claim"
    set -- "glideins/$glidein"
    [ -d "$1/begun" ] && [ ! -e "$1/over" ] || {
        echo 'Its glidein is over.' >&2
        return 1
    }
    [ -s "$1/claims/$claim" ] || printf '%s\n' "$line" >"$1/claims/$claim"
}
# Give group $1 to the batch system, or to a slot.
give() {
    if [ -f "groups/$1/claim" ]; then
        out='in a slot'
        give_slot "$1"
    else
        out=$(. "./groups/$1/submit" </dev/null)
    fi 2>"incoming/$exchange.err"
    if [ $? -eq 0 ]; then
        printf '%s\n' "$out" >"groups/$1/id"
        say id "$1"
        printf '%s\n' "$out"
        return
    fi
    say refused "$1"
    cat "incoming/$exchange.err"
    set -- "groups/$1"
    while read -r tag; do [ "$tag" = - ] || set -- "$@" "attempts/$tag"; done <"$1/list"
    rm -rf "$@"
}
# Tell how attempt $1 of exchange $owner stands.
tell() {
    if [ -z "$owner" ]; then
        say failed "$1"
    elif [ -s "groups/$group/id" ]; then
        say there "$1" "$group"
        cat "groups/$group/id"
    elif free "$owner"; then
        say orphan "$1" "$group" "$owner"
        orphans=1
    else
        say busy "$1"
    fi
}
# Hold the input files of attempts $exchange brings, so that they stay whatever is cleared in `files`: by a link,
# else by a copy. Nobody writes to what is held; the starter makes a copy of it. Lines: tag, hashes.
hold() {
    while read -r tag sums; do
        set --
        for sum in $sums; do
            [ -f "files/$sum" ] || return 92
            set -- "$@" "files/$sum"
        done
        held=incoming/$exchange/attempts/$tag/held
        mkdir "$held" || return 91
        ln "$@" "$held/" 2>/dev/null || cp -f "$@" "$held/" || return 91
    done <"incoming/$exchange/held"
}
# Take a parcel on standard input.
take_parcel() {
    orphans=
    mkdir "incoming/$exchange" && tar -xf - -C "incoming/$exchange" || {
        rm -rf "incoming/$exchange" "locks/$exchange"
        exit 91
    }
    hold || {
        held=$?
        rm -rf "incoming/$exchange" "locks/$exchange"
        exit "$held"
    }
    set +f
    mv "incoming/$exchange/groups/"* groups/ 2>/dev/null
    mv "incoming/$exchange/attempts/"* attempts/ 2>/dev/null
    set -f
    while read -r name; do
        mine= all= other=
        while read -r tag; do
            owner= group=
            [ ! -r "attempts/$tag/exchange" ] || read -r owner group <"attempts/$tag/exchange"
            if [ "$owner" = "$exchange" ]; then
                mine=1 all="$all $tag"
            else
                other=1 all="$all -"
                tell "$tag"
            fi
        done <"groups/$name/list"
        [ -z "$mine" ] || [ -z "$other" ] || printf '%s\n' $all >"groups/$name/list"
        if [ -n "$mine" ]; then
            give "$name"
        elif [ "$group" != "$name" ]; then
            # All its attempts are in groups of earlier exchanges; that of a single one may be called like this.
            rm -rf "groups/$name"
        fi
    done <"incoming/$exchange/names"
    if [ -n "$orphans" ]; then
        say list
        status
    fi
    rm -rf "incoming/$exchange" "incoming/$exchange.err" "locks/$exchange"
}
# Finish what others were cut off from. Lines: group, the exchange that was cut off, its id where the batch system has it already.
finish_cut_off() {
    while read -r group owner id; do
        if [ -n "$locking" ]; then
            exec 8<>"locks/$owner"
            flock -n 8 || continue
        fi
        if [ -s "groups/$group/id" ]; then
            say id "$group"
            cat "groups/$group/id"
        elif [ -n "$id" ]; then
            printf '%s\n' "$id" >"groups/$group/id"
            say id "$group"
            printf '%s\n' "$id"
        elif [ -s "groups/$group/submit" ] || [ -s "groups/$group/claim" ]; then
            give "$group"
        fi
        exec 8>&-
    done
    rm -rf "incoming/$exchange" "incoming/$exchange.err" "locks/$exchange"
}
