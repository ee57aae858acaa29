#pragma once

#include <lcms2.h>

/* Pixel formats are macros that compute, which Swift cannot see. */
static const cmsUInt32Number shim_TYPE_GRAY_8 = TYPE_GRAY_8;
static const cmsUInt32Number shim_TYPE_RGB_8 = TYPE_RGB_8;
static const cmsUInt32Number shim_TYPE_CMYK_8 = TYPE_CMYK_8;
static const cmsUInt32Number shim_TYPE_CMYK_8_REV = TYPE_CMYK_8_REV;
static const cmsUInt32Number shim_TYPE_Lab_8 = TYPE_Lab_8;
static const cmsUInt32Number shim_relative_intent = INTENT_RELATIVE_COLORIMETRIC;
static const cmsUInt32Number shim_black_point_compensation = cmsFLAGS_BLACKPOINTCOMPENSATION;
static const cmsUInt32Number shim_no_optimization = cmsFLAGS_NOOPTIMIZE;
