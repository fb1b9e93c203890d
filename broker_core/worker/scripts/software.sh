#!/bin/sh
# Runs a program with the software that its description asks for: modules, a Python environment, a container.
# The Job Starter makes the program's process become this where a job asks for it, so that others pay nothing.
#
#   software.sh ENVIRONMENTS [module=NAME | python=FILE | container=IMAGE]... -- DIRECTORY PROGRAM [WORD]...
#
# ENVIRONMENTS: folder of Python environments and fetched images that jobs of this site share; empty: in the
# account's cache.
# DIRECTORY: of the attempt. Runs in the job's own directory, and tells what it does on standard error.
#
# What keeps the program from its start stands as one line in `.crossdesk-software`; a line that ends in `:` is
# followed by what the program's standard error says last. The file is empty or missing once the program runs.

note=.crossdesk-software
age=30

say() { printf 'CrossDesk: %s\n' "$*" >&2; }

# Record why the program is not started, and end.
fail() {
    printf '%s\n' "$1" | LC_ALL=C tr -cd '\12\40-\133\135-\176' >"$note"
    say "$1"
    exit 1
}

# The last line of file $1 that says something.
last() { sed -n 's/^[[:space:]]*//; /[^[:space:]]/h; ${x;s/\.*$//;p;}' "$1" 2>/dev/null; }

# Have the function `module`, by the variables of the module system itself, or by its set-up.
find_modules() {
    ! command -v module >/dev/null 2>&1 || return 0
    if [ -n "${LMOD_CMD:-}" ]; then
        module() { eval "$("$LMOD_CMD" sh "$@")"; }
        return 0
    fi
    if [ -n "${MODULES_CMD:-}" ]; then
        module() { eval "$("$MODULES_CMD" sh "$@")"; }
        return 0
    fi
    for start in "${MODULESHOME:-/usr/share/modules}/init/sh" /etc/profile.d/z00_lmod.sh /etc/profile.d/lmod.sh \
        /etc/profile.d/modules.sh /usr/share/lmod/lmod/init/sh /usr/share/modules/init/sh; do
        [ ! -r "$start" ] || . "$start" >/dev/null 2>&1
        ! command -v module >/dev/null 2>&1 || return 0
    done
    return 1
}

load_module() {
    find_modules || fail "There are no environment modules on this node, so $1 cannot be loaded."
    module load "$1" 2>"$directory/module.err"
    failed=$?
    # Old module systems complain, and count as well all the same.
    if [ "$failed" -eq 0 ]; then
        case :${LOADEDMODULES:-}: in
        *":$1:"* | *":$1/"*) ;;
        *) ! grep -q -e 'Unable to locate' -e 'ERROR' "$directory/module.err" || failed=1 ;;
        esac
    fi
    cat "$directory/module.err" >&2
    why=$(sed -n '/ERROR: /{s/.*ERROR: //;p;q;}; /are unknown:/{s/.*/there is none of that name/;p;q;}' "$directory/module.err")
    [ -n "$why" ] || why=$(last "$directory/module.err")
    rm -f "$directory/module.err"
    [ "$failed" -eq 0 ] || fail "The module $1 cannot be loaded${why:+: $why}."
}

# Build environment $1 from file $2; what is printed goes to standard error.
build() {
    case $2 in
    *.yml | *.yaml)
        yes=
        [ "$tool" != micromamba ] || yes=-y
        "$tool" env create -q -p "$1" -f "$2" $yes </dev/null
        ;;
    *pylock*.toml) UV_PYTHON_DOWNLOADS=never uv venv -q "$1" && uv pip sync --python "$1/bin/python" "$2" ;;
    *)
        if [ "$tool" = uv ]; then
            UV_PYTHON_DOWNLOADS=never uv venv -q --python "$(command -v python3)" "$1" &&
                uv pip install --python "$1/bin/python" -r "$2"
        else
            python3 -m venv "$1" &&
                "$1/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off -r "$2"
        fi
        ;;
    esac
}

# Set tool to what builds environments from file $1 on this node.
choose_tool() {
    tool=
    case $1 in
    *.yml | *.yaml)
        for one in micromamba mamba conda; do ! command -v "$one" >/dev/null 2>&1 || tool=$one; done
        [ -n "$tool" ] || fail "There is no conda on this node, which the Python environment of $1 needs."
        ;;
    *)
        command -v python3 >/dev/null 2>&1 || fail "There is no python3 on this node for the environment of $1."
        ! command -v uv >/dev/null 2>&1 || tool=uv
        case $1 in *pylock*.toml) [ -n "$tool" ] || fail "There is no uv on this node, which $1 needs." ;; esac
        : "${tool:=venv}"
        ;;
    esac
}

# Be the only one that makes $1: by flock where there is one, else by a folder that is kept young.
lock() {
    told= taken=1
    # `flock` says 1 of what another one holds; of what a file system cannot do it says something else.
    if command -v flock >/dev/null 2>&1 && true 2>/dev/null >>"$1.lock"; then
        exec 9>>"$1.lock"
        flock -n 9 2>/dev/null
        taken=$?
        if [ "$taken" -eq 1 ]; then
            held
            flock 9
            taken=$?
        fi
    fi
    [ "$taken" -ne 0 ] || return 0
    until mkdir "$1.busy" 2>/dev/null; do
        [ ! -f "$1/.complete" ] || return 0
        # Nobody has renewed it for ten minutes: who built died.
        if [ -n "$(find "$1.busy" -prune -mmin +10 2>/dev/null)" ]; then rmdir "$1.busy" 2>/dev/null; fi
        held
        sleep 2
    done
    while sleep 60 && kill -s 0 "$$" 2>/dev/null; do touch "$1.busy"; done &
    renewing=$!
}
held() {
    [ -n "$told" ] || say "another job makes $what; this one waits for it."
    told=1
}
unlock() {
    if [ -n "${renewing:-}" ]; then
        kill "$renewing" 2>/dev/null
        rmdir "$1.busy" 2>/dev/null
    fi
    exec 9>&-
}

# Print a name of 24 characters for the standard input.
key_of() { sha256sum | cut -c 1-24; }

# Have the folder for what jobs share.
find_shared() {
    environments=${environments:-${XDG_CACHE_HOME:-${HOME:-.}/.cache}/crossdesk/environments}
    mkdir -p "$environments" || fail "The folder for what jobs share, $environments, cannot be made."
}

# Run these words; what they print is seen at once. Sets failed to their exit status, and why to the last that they
# said.
watched() {
    { { "$@" 9>&-; echo "$?" >"$directory/built"; } 2>&1 | tee "$directory/build.log" >&2; }
    read -r failed <"$directory/built"
    why=$(last "$directory/build.log")
    rm -f "$directory/built"
}

# What no job has begun with for a month goes; what is being made is locked.
clean() {
    find "$environments" -mindepth 2 -maxdepth 2 -name .used -mtime "+$age" 2>/dev/null | while read -r old; do
        old=${old%/.used}
        rm -f "$old/.complete"
        rm -rf "$old" "$old.lock"
    done
    find "$environments" -maxdepth 1 -name "*.image" -mtime "+$age" -exec rm -f {} +
}

# Have the Python environment of file $1, built once for each content, interpreter and kind of machine.
use_python() {
    file=$1
    [ -r "./$file" ] || fail "The file $file of the Python environment is not in the job's directory."
    choose_tool "$file"
    what="the Python environment of $file"
    find_shared
    key=$environments/$({ cat "./$file"; command -v python3; python3 -VV; uname -m; echo "$tool"; } 2>/dev/null | key_of)
    if [ ! -f "$key/.complete" ]; then
        lock "$key"
        [ -f "$key/.complete" ] || build_once "$key" "$file"
        unlock "$key"
    fi
    true >"$key/.used"
    case $file in *.yml | *.yaml) export CONDA_PREFIX="$key" ;; *) export VIRTUAL_ENV="$key" ;; esac
    export PATH="$key/bin:$PATH"
    unset PYTHONHOME
}

build_once() {
    clean
    say "building $what with $tool; later jobs of this site find it made."
    rm -rf "$1"
    watched build "$1" "$2"
    rm -f "$directory/build.log"
    if [ "$failed" -ne 0 ]; then
        rm -rf "$1"
        unlock "$1"
        fail "The Python environment of $2 cannot be built: $why."
    fi
    true >"$1/.complete"
    say "$what is ready."
}

# Become program $1 with its words; one without a folder is looked up in PATH.
run() {
    case $1 in
    */*) [ -f "$1" ] && [ -x "$1" ] || fail "The program $1 is not there, or is no executable file." ;;
    *) command -v -- "$1" >/dev/null 2>&1 || fail "There is no program $1 at this site, with this software either." ;;
    esac
    exec "$@"
}

# Become program $2 in container $1.
run_in_container() {
    image=$1
    shift
    case $image in
    *://*) ;;
    /*) [ -r "$image" ] || fail "The container image $image is not at this site, or cannot be read." ;;
    *)
        [ -r "./$image" ] || fail "The container image $image is not in the job's directory, or cannot be read."
        image=$PWD/$image
        ;;
    esac
    # The image's own shell says that the container is there; what it does not find is not the job's exit code.
    set -- /bin/sh -c 'if command -v -- "$1" >/dev/null 2>&1; then : >.crossdesk-software; exec "$@"; fi
        printf "There is no program %s in the container.\n" "$1" >.crossdesk-software; exit 127' sh "$@"
    runtime=
    for one in ch-run singularity apptainer; do ! command -v "$one" >/dev/null 2>&1 || runtime=$one; done
    case $image in
    # Only Charliecloud takes a folder's tar stream.
    *.tar | *.tar.gz | *.tgz) ! command -v ch-run >/dev/null 2>&1 || runtime=ch-run ;;
    esac
    [ -n "$runtime" ] || fail "There is no container runtime (apptainer, singularity or ch-run) on this node."
    printf 'The container %s cannot be started:\n' "$image" | LC_ALL=C tr -cd '\12\40-\133\135-\176' >"$note"
    if [ "$runtime" = ch-run ]; then by_charliecloud "$@"; else by_apptainer "$@"; fi
}

by_apptainer() {
    # The libraries of the host's GPUs come along where it has some.
    if [ -e /dev/nvidiactl ] || command -v nvidia-smi >/dev/null 2>&1; then set -- --nv "$image" "$@"
    elif [ -e /dev/kfd ]; then set -- --rocm "$image" "$@"
    else set -- "$image" "$@"; fi
    exec "$runtime" exec --bind "$PWD" --pwd "$PWD" "$@"
}

# Set image to the folder of the container image at address $1: one for each content, asked for once a day.
use_fetched() {
    command -v ch-image >/dev/null 2>&1 ||
        fail "There is no ch-image on this node, which would fetch the container image $1."
    what="the container image $1"
    find_shared
    address=$environments/$(printf '%s %s' "$1" "$(uname -m)" | key_of)
    if ! is_fetched; then
        lock "$address"
        is_fetched || fetch "$1"
        unlock "$address"
    fi
    true >"$environments/$known/.used"
    image=$environments/$known/image
}
is_fetched() {
    known=
    { read -r known <"$address.image"; } 2>/dev/null
    [ -n "$known" ] && [ -f "$environments/$known/.complete" ] &&
        [ -n "$(find "$address.image" -prune -mtime -1 2>/dev/null)" ]
}
fetch() {
    clean
    say "fetching $what; later jobs of this day find it at this site."
    # A storage of its own: in one that is shared, an image that is fetched anew is taken from those who run in it.
    rm -rf "$address.storage"
    watched ch-image --storage "$address.storage" pull "$1"
    if [ "$failed" -ne 0 ]; then
        error=$(sed -n 's/^error: //p' "$directory/build.log" | head -n 1)
        rm -rf "$address.storage" "$directory/build.log"
        unlock "$address"
        fail "The container image $1 cannot be fetched: ${error:-$why}."
    fi
    rm -f "$directory/build.log"
    known=$(cat "$address.storage/dlcache"/*.json | key_of)
    if [ ! -f "$environments/$known/.complete" ]; then
        rm -rf "$environments/$known"
        mkdir "$environments/$known" && mv "$address.storage/img"/* "$environments/$known/image" &&
            true >"$environments/$known/.complete"
    fi
    rm -rf "$address.storage"
    if [ ! -f "$environments/$known/.complete" ]; then
        unlock "$address"
        fail "The container image $1 cannot be kept in $environments."
    fi
    echo "$known" >"$address.image.new" && mv "$address.image.new" "$address.image"
    say "$what is there."
}

by_charliecloud() {
    export USER="${USER:-$(id -un)}"
    case $image in
    *://*)
        use_fetched "${image#*://}"
        ;;
    *.tar | *.tar.gz | *.tgz)
        mkdir "$directory/image" && tar -xf "$image" -C "$directory/image" --exclude='./dev/*' --exclude='dev/*' ||
            exit 1
        image=$directory/image
        ;;
    esac
    case $image in
    *.sqfs | *.squashfs | *.sif)
        mkdir "$directory/image"
        set -- -m "$directory/image" "$image" -- "$@"
        ;;
    # The host's devices, with those of GPUs, are there in any case.
    *) set -- "$image" -- "$@" ;;
    esac
    export CROSSDESK_SERVICES=/mnt/.crossdesk-services CROSSDESK_DATA=/mnt/.crossdesk-data
    exec ch-run --bind "$PWD:/mnt" --cd /mnt "$@"
}

environments=$1
shift
container= python= modules=
while [ "$1" != -- ]; do
    case $1 in
    module=*) modules="$modules ${1#module=}" ;;
    python=*) python=${1#python=} ;;
    container=*) container=${1#container=} ;;
    esac
    shift
done
shift
directory=$1
shift
for name in $modules; do load_module "$name"; done
[ -z "$python" ] || use_python "$python"
if [ -n "$container" ]; then run_in_container "$container" "$@"; else run "$@"; fi
