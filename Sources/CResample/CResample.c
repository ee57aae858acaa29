#include "CResample.h"
