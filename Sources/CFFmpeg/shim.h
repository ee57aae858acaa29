#pragma once

#include <errno.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

/* Macros with casts and calls, which Swift cannot see. */
static const int shim_AVERROR_EOF = AVERROR_EOF;
static const int shim_AVERROR_AGAIN = AVERROR(EAGAIN);
static const int shim_AVERROR_IO = AVERROR(EIO);
static const int shim_AVERROR_MEMORY = AVERROR(ENOMEM);
static const int64_t shim_AV_NOPTS_VALUE = AV_NOPTS_VALUE;

static inline AVStream *shim_stream(const AVFormatContext *movie, int number) { return movie->streams[number]; }
static inline const char *shim_av_version(void) { return av_version_info(); }
