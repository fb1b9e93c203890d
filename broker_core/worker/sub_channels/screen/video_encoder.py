"""Frames of VP9 with all colors of each pixel (4:4:4), made at once, at a bit rate that may change with each.

Structures of libvpx are written as far as they have stayed the same in all its versions; the library itself
fills the rest. https://github.com/webmproject/libvpx (vpx_encoder.h, vp8cx.h)
"""

from __future__ import annotations

import ctypes
import weakref
from ctypes import POINTER, c_int, c_uint32, c_uint64, c_void_p, cast

from broker_core.interactive.channel.pictures import PLANES
from broker_core.worker.sub_channels.screen.video_libraries import NoVideo, VideoLibraries, load

_THREADS, _PROFILE, _WIDTH, _HEIGHT, _SECOND, _LAG = 1, 2, 3, 4, 8, 11
_MODE, _BIT_RATE, _LEAST_QUANTIZER, _MOST_QUANTIZER = 18, 28, 29, 30
_UNDERSHOOT, _OVERSHOOT, _BUFFER, _BUFFER_FIRST, _BUFFER_BEST = 31, 32, 33, 34, 35
"""Numbers of the 32-bit fields of vpx_codec_enc_cfg_t."""
_SETTINGS = {
    _THREADS: 1,
    _PROFILE: 1,  # 4:4:4
    _SECOND: 1000,
    _LAG: 0,
    _MODE: 1,  # a constant bit rate
    _LEAST_QUANTIZER: 4,
    _MOST_QUANTIZER: 60,
    _UNDERSHOOT: 50,
    _OVERSHOOT: 50,
    _BUFFER: 600,
    _BUFFER_FIRST: 300,
    _BUFFER_BEST: 400,
}
_SPEED, _COLORS, _NO_FILTER = 13, 46, 69
_CONTROLS = {_SPEED: 9, _COLORS: 1, _NO_FILTER: 2}
"""As fast as it can; colors as BT.601 has them, which is what libswscale makes; edges are not smoothed."""
_LONGEST_CONTEXT, _LONGEST_SETTINGS = 512, 4096
"""Bytes; the structures are smaller in all versions."""
_VERSIONS = range(5, 200)
"""Of the binary interface; the library takes one of them."""
_I444 = 0x106
_POINT, _ALL_CHROMA = 0x10, 0x4000
_REALTIME = 1
_FRAME = 0
_LONGEST_FRAME_MS = 1000
_AROUND = 64
"""Bytes behind the last pixel that libswscale may read and write: it takes several at a time."""


class VideoEncoder:
    """Encodes one screen for one desk, frame by frame; the first one needs none before it."""

    def __init__(self, width: int, height: int, bit_rate: int) -> None:
        """`bit_rate`: bits a second. Raises NoVideo."""
        self._libraries = load()
        vpx, swscale = self._libraries.vpx, self._libraries.swscale
        self._height, self._bit_rate = height, bit_rate
        self._at = 0
        """Milliseconds of the frame made last."""
        kind = vpx.vpx_codec_vp9_cx()
        self._settings = (c_uint32 * (_LONGEST_SETTINGS // 4))()
        self._check(vpx.vpx_codec_enc_config_default(kind, self._settings, 0))
        own = {_WIDTH: width, _HEIGHT: height, _BIT_RATE: bit_rate // 1000}
        for field, value in (_SETTINGS | own).items():
            self._settings[field] = value
        self._context = (ctypes.c_byte * _LONGEST_CONTEXT)()
        for version in _VERSIONS:
            code = vpx.vpx_codec_enc_init_ver(self._context, kind, self._settings, 0, version)
            if code == 0:
                break
        self._check(code)
        for control, setting in _CONTROLS.items():
            self._check(vpx.vpx_codec_control_(self._context, control, c_int(setting)))
        self._source = ctypes.create_string_buffer(0)
        self._planes = ctypes.create_string_buffer(width * height * PLANES + _AROUND)
        first = ctypes.addressof(self._planes)
        self._targets = (c_void_p * 4)(*(first + plane * width * height for plane in range(PLANES)), None)
        self._strides = (c_int * 4)(width, width, width, 0)
        self._image = vpx.vpx_img_wrap(None, _I444, width, height, 1, self._planes)
        formats = [self._libraries.avutil.av_get_pix_fmt(name) for name in (b"bgr0", b"yuv444p")]
        self._scaler = swscale.sws_getContext(
            width, height, formats[0], width, height, formats[1], _POINT | _ALL_CHROMA, None, None, None
        )
        if not self._scaler or not self._image:
            raise NoVideo("its libraries take no picture of this size")
        # A desk may leave while its frame is made: what is used by nobody any more is freed, no sooner.
        weakref.finalize(self, _free, self._libraries, self._context, self._image, self._scaler)

    def encode(self, pixels: bytes, stride: int, milliseconds: int, bit_rate: int) -> bytes:
        """A frame of what the screen showed so many milliseconds after the first one. Raises NoVideo."""
        vpx = self._libraries.vpx
        if abs(bit_rate - self._bit_rate) * 10 > self._bit_rate:
            self._bit_rate = bit_rate
            self._settings[_BIT_RATE] = bit_rate // 1000
            self._check(vpx.vpx_codec_enc_config_set(self._context, self._settings))
        if len(self._source) != len(pixels) + _AROUND:
            self._source = ctypes.create_string_buffer(len(pixels) + _AROUND)
        ctypes.memmove(self._source, pixels, len(pixels))
        source = (c_void_p * 4)(ctypes.addressof(self._source), None, None, None)
        strides = (c_int * 4)(stride, 0, 0, 0)
        self._libraries.swscale.sws_scale(
            self._scaler, source, strides, 0, self._height, self._targets, self._strides
        )
        at = max(milliseconds, self._at + 1)
        duration = min(at - self._at, _LONGEST_FRAME_MS)
        self._at = at
        self._check(vpx.vpx_codec_encode(self._context, self._image, at, duration, 0, _REALTIME))
        return b"".join(self._made())

    def _made(self) -> list[bytes]:
        found: list[bytes] = []
        position = c_void_p()
        while packet := self._libraries.vpx.vpx_codec_get_cx_data(self._context, ctypes.byref(position)):
            if cast(packet, POINTER(c_int))[0] == _FRAME:
                address, size = cast(packet + 8, POINTER(c_uint64))[0:2]
                found.append(ctypes.string_at(address, size))
        return found

    def _check(self, code: int) -> None:
        if code:
            reason = self._libraries.vpx.vpx_codec_err_to_string(code) or b""
            raise NoVideo(f"libvpx says: {reason.decode(errors='replace')}")


def _free(libraries: VideoLibraries, context: object, image: int, scaler: int) -> None:
    libraries.vpx.vpx_codec_destroy(context)
    libraries.vpx.vpx_img_free(image)
    libraries.swscale.sws_freeContext(scaler)
