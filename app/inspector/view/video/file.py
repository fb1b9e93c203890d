"""Pictures of a display as a video file. No widgets; imported late, as its library is large."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import cast

import av
import numpy as np
from av.video.stream import VideoStream
from PySide6.QtGui import QImage

from app.inspector.view.video.kinds import KINDS

_PER_SECOND = 1000
_RATE = 30
_BT709, _LIMITED = 1, 1
"""How colors are written, as FFmpeg counts such ways; players are told."""
_KEYS = 5 * _RATE
"""Pictures between two from which a player can begin."""
_CODEC = "libvpx-vp9"
_QUALITY = {
    "deadline": "realtime",
    "cpu-used": "7",
    "lag-in-frames": "0",
    "crf": "18",
    "b": "0",
    "tune-content": "screen",
    "row-mt": "1",
}
_WRITTEN = {
    "webm": {"cluster_time_limit": "1000", "flush_packets": "1"},
    "mp4": {"movflags": "empty_moov+default_base_moof", "frag_duration": "1000000", "flush_packets": "1"},
}
"""Each second is complete on the disk: what there is can be played, also where the desk was killed."""


class VideoFile:
    """VP9 with all colors of each pixel: text and thin lines stay as they are."""

    def __init__(self, path: Path, width: int, height: int) -> None:
        """Raises OSError where it cannot be written."""
        kind = path.suffix[1:].lower()
        kind = kind if kind in KINDS else KINDS[0]
        self.size = width, height
        self._last = -1
        self._container = av.open(str(path), "w", format=kind, options=_WRITTEN[kind])
        self._stream = cast(VideoStream, self._container.add_stream(_CODEC, rate=_RATE, options=_QUALITY))
        self._stream.width, self._stream.height = width, height
        self._stream.pix_fmt = "yuv444p"
        self._stream.time_base = Fraction(1, _PER_SECOND)
        codec = self._stream.codec_context
        codec.time_base = Fraction(1, _PER_SECOND)
        codec.gop_size = _KEYS
        codec.thread_count = 2
        codec.colorspace = codec.color_primaries = codec.color_trc = _BT709
        codec.color_range = _LIMITED

    def add(self, image: QImage, seconds: float) -> None:
        """What is shown from so many seconds on; a picture of another size is left out. Raises OSError."""
        if (image.width(), image.height()) != self.size:
            return
        self._last = max(self._last + 1, round(seconds * _PER_SECOND))
        shape = image.height(), image.bytesPerLine() // 4, 4
        rows = np.frombuffer(image.constBits(), np.uint8).reshape(shape)
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rows[:, : image.width()]), format="bgra")
        frame = frame.reformat(format="yuv444p", dst_colorspace="ITU709")
        frame.pts, frame.time_base = self._last, Fraction(1, _PER_SECOND)
        self._container.mux(self._stream.encode(frame))

    def close(self) -> None:
        """Finish the file. Raises OSError."""
        try:
            self._container.mux(self._stream.encode(None))
        finally:
            self._container.close()
