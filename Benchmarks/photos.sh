#!/usr/bin/env bash
# Makes the photos that the benchmarks work on, as far as they are not there yet:
#   photos.sh FOLDER
# FOLDER/12mp: 100 of 12 MP, quality 94, half 4:2:0 and half 4:2:2, 3.4 and 4.0 MB; a quarter of them lie on their side
# FOLDER/12mp-progressive and FOLDER/24mp: 20 each.
#
# Decoding a JPEG costs by its compressed bytes, so what matters is that detail and noise fill as many as a camera's
# picture does: a fractal gives structure of every size, noise over it the rest. Two runs make the same pixels.
set -euo pipefail
target=${1:?usage: photos.sh FOLDER}
mkdir -p "$target"
target=$(cd "$target" && pwd)

# An APP1 segment (EXIF 2.32) with orientation and capture time.
exif() { # ORIENTATION "YYYY:MM:DD HH:MM:SS"
    printf '\xff\xe1\0\x54Exif\0\0II*\0\x08\0\0\0'
    printf '\x02\0\x12\x01\x03\0\x01\0\0\0%b\0\0\0\x69\x87\x04\0\x01\0\0\0\x26\0\0\0\0\0\0\0' "\\x0$1"
    printf '\x01\0\x03\x90\x02\0\x14\0\0\0\x38\0\0\0\0\0\0\0%s\0' "$2"
}

photo() { # FOLDER WIDTHxHEIGHT NUMBER [OPTION ...]
    local folder=$1 size=$2 number=$3 name orientation=1 sampling=4:2:0 time
    shift 3
    name=$folder/IMG_$(printf '%04d' "$number").JPG
    if [ -s "$name" ]; then return; fi
    if [ $((number % 4)) = 3 ]; then orientation=6; fi
    if [ $((number % 2)) = 0 ]; then sampling=4:2:2; fi
    time=$(printf '2026:05:%02d 10:%02d:%02d' $((15 + number / 34)) $((number % 60)) $((number * 7 % 60)))
    # Noise is dear to make: each photo has the same field, rolled to another place.
    convert \( "$folder/noise.mpc" -roll "+$((number * 173))+$((number * 97))" \) \
        \( -seed "$number" -size $((${size%x*} / 4))x$((${size#*x} / 4)) plasma:fractal -resize "$size!" \) \
        -compose Mathematics -define compose:args=0,1,1,-0.5 -composite -depth 8 -type TrueColor \
        -sampling-factor "$sampling" -quality 94 "$@" "JPEG:$folder/plain"
    { head -c 2 "$folder/plain" && exif "$orientation" "$time" && tail -c +3 "$folder/plain"; } > "$folder/whole"
    mv "$folder/whole" "$name"
    rm "$folder/plain"
}

set_of() { # NAME COUNT WIDTHxHEIGHT [OPTION ...]
    local folder=$target/$1 count=$2 size=$3 number
    shift 3
    [ -e "$folder/IMG_$(printf '%04d' "$count").JPG" ] && return
    echo "Making $count photos of $size in ${folder##*/}" >&2
    mkdir -p "$folder"
    convert -seed 1 -size "$size" 'xc:rgb(128,128,128)' -type TrueColor -attenuate 0.22 +noise Gaussian -depth 8 \
        "$folder/noise.mpc"
    for number in $(seq "$count"); do photo "$folder" "$size" "$number" "$@"; done
    rm -f "$folder"/noise.*
}

export MAGICK_THREAD_LIMIT=1
set_of 12mp 100 4032x3024
set_of 12mp-progressive 20 4032x3024 -interlace JPEG
set_of 24mp 20 6000x4000
