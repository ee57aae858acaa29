#!/usr/bin/env bash
# Makes the demo's sample photos anew: drawn by ImageMagick from a seed, dated by exiftool, nobody's picture.
# Needs imagemagick, libimage-exiftool-perl and libheif-examples. The results are kept in git, so the demo needs none.
set -euo pipefail
cd "$(dirname "$0")/samples"
rm -f ./*

scene() { # seed, sky, ground, file
    convert -size 1600x1067 -seed "$1" \
        \( gradient:"$2" \) \
        \( -size 1600x420 plasma:"$3" -blur 0x3 -alpha set -virtual-pixel transparent \
           -distort Perspective '0,0 0,60 1600,0 1600,0 0,420 0,420 1600,420 1600,420' \) \
        -gravity south -composite \
        -gravity northeast -fill '#ffe9a8' -draw "circle 1300,220 1300,$((220 + 60 + $1))" \
        -attenuate 0.15 +noise Gaussian -quality 82 "$4"
}
facts() { # file, date, more exiftool arguments
    local file=$1 date=$2; shift 2
    exiftool -q -overwrite_original -Make='photospool' -Model='Sample 1' -LensModel='Sample 24mm f/2.8' \
        -DateTimeOriginal="$date" -OffsetTimeOriginal='+02:00' -SubSecTimeOriginal=87 "$@" "$file"
}

scene 7 '#2b4f81-#f5b971' '#4a5d3a-#1f2d1c' IMG_0001.JPG
facts IMG_0001.JPG '2026:05:17 09:04:31' -GPSLatitude=47.5596 -GPSLatitudeRef=N -GPSLongitude=7.5886 -GPSLongitudeRef=E

# Stored on its side, as phones do; the tag says how to turn it back.
scene 23 '#16324f-#7fb7be' '#3d3a2a-#15160f' upright.jpg
convert upright.jpg -rotate -90 -quality 82 IMG_0002.JPG
facts IMG_0002.JPG '2026:05:17 09:05:02' -n -Orientation=6

scene 31 '#5b2a58-#ffb088' '#5a4632-#241a12' late.jpg
facts late.jpg '2026:05:17 21:11:40'
heif-enc -q 50 -o IMG_0003.HEIC late.jpg >/dev/null

scene 47 '#87b5d9-#e8f1f5' '#6b7f4d-#2c3a1f' noon.png
convert noon.png -resize 640x -colors 64 -strip 'Screenshot 2026-05-18 at 12.30.05.PNG'

# The start of a photo, and then what a dying card gives back.
head -c 700 IMG_0001.JPG > IMG_0004.JPG
head -c 40000 /dev/zero | tr '\0' '\377' >> IMG_0004.JPG

# The same shot twice, as when a card is copied again.
cp IMG_0001.JPG 'IMG_0001 copy.JPG'
rm -f upright.jpg late.jpg noon.png
touch -d '2026-05-17 12:00:00 UTC' ./*
