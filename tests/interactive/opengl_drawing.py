"""A program that draws by OpenGL on its display: a ground green or blue in turns, and a red triangle on it.

`opengl_drawing.py`: two pictures a second, until it is ended. It talks to the libraries of X and of OpenGL
itself, as programs of scientists do by way of a toolkit.
"""

from __future__ import annotations

import ctypes
import select
from ctypes import POINTER, Structure, byref, c_char_p, c_float, c_int, c_long, c_ulong, c_void_p

GREEN, BLUE, RED = 0x00FF00, 0x0000FF, 0xFF0000
_RGBA, _DOUBLE_BUFFER, _DEPTH = 4, 5, 12
_COLOR_BUFFER, _TRIANGLES = 0x4000, 0x0004
_OVERRIDE, _COLORMAP, _BORDER = 1 << 9, 1 << 13, 1 << 3


class _Visual(Structure):
    """XVisualInfo."""

    _fields_ = (
        ("visual", c_void_p),
        ("visualid", c_ulong),
        ("screen", c_int),
        ("depth", c_int),
        *((name, c_int) for name in ("kind",)),
        *((name, c_ulong) for name in ("red", "green", "blue")),
        *((name, c_int) for name in ("size", "bits")),
    )


class _Attributes(Structure):
    """XSetWindowAttributes."""

    _fields_ = (
        *((name, c_ulong) for name in ("background_pixmap", "background", "border_pixmap", "border")),
        *((name, c_int) for name in ("bit_gravity", "win_gravity", "backing_store")),
        *((name, c_ulong) for name in ("planes", "pixel")),
        ("save_under", c_int),
        *((name, c_long) for name in ("events", "not_passed")),
        ("override_redirect", c_int),
        *((name, c_ulong) for name in ("colormap", "cursor")),
    )


def main() -> None:
    x, gl = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libGL.so.1")
    x.XOpenDisplay.argtypes, x.XOpenDisplay.restype = (c_char_p,), c_void_p
    x.XRootWindow.argtypes, x.XRootWindow.restype = (c_void_p, c_int), c_ulong
    x.XDisplayWidth.argtypes = x.XDisplayHeight.argtypes = (c_void_p, c_int)
    x.XCreateColormap.argtypes, x.XCreateColormap.restype = (c_void_p, c_ulong, c_void_p, c_int), c_ulong
    x.XCreateWindow.argtypes = (
        *(c_void_p, c_ulong, c_int, c_int, c_int, c_int, c_int, c_int, c_int),
        *(c_void_p, c_ulong, POINTER(_Attributes)),
    )
    x.XCreateWindow.restype = c_ulong
    x.XMapWindow.argtypes = (c_void_p, c_ulong)
    gl.glXChooseVisual.argtypes, gl.glXChooseVisual.restype = (c_void_p, c_int, c_void_p), POINTER(_Visual)
    gl.glXCreateContext.argtypes = (c_void_p, c_void_p, c_void_p, c_int)
    gl.glXCreateContext.restype = c_void_p
    gl.glXMakeCurrent.argtypes = (c_void_p, c_ulong, c_void_p)
    gl.glXSwapBuffers.argtypes = (c_void_p, c_ulong)
    gl.glClearColor.argtypes = (c_float,) * 4
    gl.glColor3f.argtypes = (c_float,) * 3
    gl.glVertex2f.argtypes = (c_float,) * 2

    display = x.XOpenDisplay(None)
    wanted = (c_int * 5)(_RGBA, _DOUBLE_BUFFER, _DEPTH, 16, 0)
    visual = gl.glXChooseVisual(display, 0, wanted)
    root, size = x.XRootWindow(display, 0), (x.XDisplayWidth(display, 0), x.XDisplayHeight(display, 0))
    colors = x.XCreateColormap(display, root, visual[0].visual, 0)
    attributes = _Attributes(override_redirect=1, colormap=colors)
    mask = _OVERRIDE | _COLORMAP | _BORDER
    window = x.XCreateWindow(
        display, root, 0, 0, *size, 0, visual[0].depth, 1, visual[0].visual, mask, byref(attributes)
    )
    x.XMapWindow(display, window)
    gl.glXMakeCurrent(display, window, gl.glXCreateContext(display, visual, None, 1))
    gl.glViewport(0, 0, *size)
    green = True
    while True:
        gl.glClearColor(0.0, float(green), float(not green), 1.0)
        gl.glClear(_COLOR_BUFFER)
        gl.glBegin(_TRIANGLES)
        gl.glColor3f(1.0, 0.0, 0.0)
        for corner in ((-0.5, -0.5), (0.5, -0.5), (0.0, 0.5)):
            gl.glVertex2f(*corner)
        gl.glEnd()
        gl.glXSwapBuffers(display, window)
        green = not green
        select.select((), (), (), 0.5)


if __name__ == "__main__":
    main()
