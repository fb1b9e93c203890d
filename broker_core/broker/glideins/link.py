"""Speaking with the glideins of one site: one exchange after the other, sooner when there is news."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping

from broker_core.errors import CrossDeskError
from broker_core.scheduling.slots import messages
from broker_core.scheduling.slots.glidein_life import GlideinState
from broker_core.scheduling.slots.rules import PriorityControl
from broker_core.sites.contract import Site
from broker_core.sites.glideins import (
    ClaimControl,
    ClaimMode,
    GlideinAccess,
    GlideinMessages,
    GlideinStatus,
    glideins_of,
    tell_ends,
)
from broker_core.sites.link import LinkState
from broker_core.system.clock import now

log = logging.getLogger("crossdesk.glideins")
QUICK, PACE, SLOW = 0.2, 1.0, 5.0
"""Seconds between two exchanges: for `_LIVELY` seconds after a payload has begun or ended, as it and the next
may be short; then; and where nothing has changed for `_QUIET` seconds."""
_LIVELY, _QUIET = 3.0, 30.0
_SETTLED = 3.0
"""Seconds after the first glidein has joined in which its first payload, and those of others, begin."""
_FRESH = 5.0
"""Seconds after which a renewal is not sent any more; the glidein gives another sign of life."""
_SIGNS = 9
"""Signs of life that are passed on within a lease."""
NOT_BY_ITSELF = 227
"""Exit status of a Job Starter whose program did not end by itself."""
_UNSTARTED = frozenset({GlideinState.REQUESTED, GlideinState.QUEUED})


class GlideinLink:
    """Tells glideins what is wanted of them, and the monitor what they say."""

    def __init__(
        self,
        site: Callable[[], Site | None],
        glideins: Callable[[], Mapping[str, str]],
        post: Callable[[object], None],
        changed: Callable[[], None],
        lease: float,
    ) -> None:
        """`glideins`: those of the site with their states; `changed`: called after each exchange."""
        self._site, self._glideins, self._post, self._changed = site, glideins, post, changed
        self._pause = lease / _SIGNS
        self._renewals: dict[str, float] = {}
        """Glidein to when its lease was to be renewed."""
        self._controls: dict[str, ClaimControl] = {}
        """Claim to what was not told of it yet."""
        self._removed: set[str] = set()
        self._beats: dict[str, tuple[int, float]] = {}
        """Glidein to its last sign of life that was passed on, and when."""
        self._running: set[str] = set()
        """Claims whose payloads began, by their glideins."""
        self._over: set[str] = set()
        """Claims whose end was passed on."""
        self._settled: set[tuple[str, str]] = set()
        """Glideins with claims that they tell the end of, a round after that was passed on."""
        self._news = self._lively = 0.0
        """When something changed last, and when a payload began or ended, by the monotonic clock."""
        self._met: float | None = None
        """When the first glidein joined, likewise."""
        self._woken = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._rounds(), name="glideins of a site")

    @property
    def is_settled(self) -> bool:
        """There is time for what is to be ready for later payloads."""
        return self._met is not None and now().monotonic - self._met >= _SETTLED

    @property
    def _is_calm(self) -> bool:
        """No payload has begun or ended just now: short ones do not follow one another."""
        return now().monotonic - self._lively >= _LIVELY

    def wake(self) -> None:
        """Speak with them now."""
        self._woken.set()

    def ask_soon(self) -> None:
        """A payload begins or has ended there: ask now; between short ones that is done soon enough."""
        if self._is_calm:
            self.wake()
        self._lively = now().monotonic

    def renew(self, glidein: str) -> None:
        """Renew a lease."""
        self._renewals[glidein] = now().monotonic
        self.wake()

    def control(self, control: ClaimControl) -> None:
        """Tell a glidein what is to become of a payload; of one that is to end nothing else is told."""
        before = self._controls.get(control.claim)
        if before is None or before.mode is not ClaimMode.END:
            self._controls[control.claim] = control
            self.wake()

    def remove(self, glidein: str) -> None:
        """A glidein is over: its files go."""
        self._removed.add(glidein)
        self._beats.pop(glidein, None)
        self._settled = {one for one in self._settled if one[0] != glidein}
        self.wake()

    async def close(self) -> None:
        """Speak no more."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _rounds(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._next_pause()):
                    await self._woken.wait()
                self._news = now().monotonic
            self._woken.clear()
            if self._is_wanted() and (access := self._access()) is not None:
                await self._round(access)

    def _next_pause(self) -> float | None:
        if not (self._is_wanted() or self._glideins()):
            return None
        if not self._is_calm:
            return QUICK
        return PACE if now().monotonic - self._news < _QUIET else SLOW

    def _is_wanted(self) -> bool:
        """There is somebody to speak with, or to clear up after."""
        return bool(self._removed) or not _UNSTARTED.issuperset(self._glideins().values())

    def _access(self) -> GlideinAccess | None:
        """The way to them; None while there is none."""
        site = self._site()
        if site is None or site.link.state is not LinkState.CONNECTED:
            return None
        return glideins_of(site)

    async def _round(self, access: GlideinAccess) -> None:
        sent = list[GlideinMessages]()

        def composed() -> GlideinMessages:
            sent.append(self._messages())
            return sent[-1]

        try:
            found = await access.exchange(composed)
        except CrossDeskError as error:
            log.info("Glideins were not reached: %s", error)
            return
        except Exception:
            log.exception("Glideins were not understood")
            return
        self._delivered(sent[-1])
        known, ended = self._glideins(), len(self._over)
        for glidein, status in found.items():
            if glidein in known:
                self._take(glidein, status)
        if len(self._over) > ended:
            tell_ends(self._site(), last=not self._running)
        self._changed()

    def _messages(self) -> GlideinMessages:
        moment = now().monotonic
        renew = tuple(name for name, at in self._renewals.items() if moment - at < _FRESH)
        self._renewals.clear()
        # What has not begun would begin by it.
        controls = tuple(
            one for one in self._controls.values() if one.mode.forbids_start or one.claim in self._running
        )
        ask = tuple(name for name, state in self._glideins().items() if state not in _UNSTARTED)
        settled = tuple(one for one in self._settled if one[0] in ask)
        return GlideinMessages(renew, controls, tuple(self._removed), settled, ask)

    def _delivered(self, sent: GlideinMessages) -> None:
        for control in sent.controls:
            if self._controls.get(control.claim) == control and not control.mode.forbids_start:
                del self._controls[control.claim]
        self._removed.difference_update(sent.remove)
        self._settled.difference_update(sent.settled)

    def _take(self, glidein: str, status: GlideinStatus) -> None:
        moment, last = now().monotonic, self._beats.get(glidein)
        if last is None:
            self._beats[glidein] = status.beat, moment
            if self._met is None:
                self._met = moment
            priorities = PriorityControl.BOTH_WAYS if status.both_ways else PriorityControl.DOWN_ONLY
            claims = status.runs | status.over.keys()
            self._post(
                messages.GlideinConnected(
                    glidein, status.node, status.faults, status.box, priorities, claims
                )
            )
        elif status.beat != last[0] and moment - last[1] >= self._pause:
            self._beats[glidein] = status.beat, moment
            self._post(messages.GlideinAlive(glidein))
        for claim in status.runs - self._running:
            self._running.add(claim)
            self._lively = moment
            if (control := self._controls.get(claim)) is not None and control.mode is ClaimMode.BACK:
                del self._controls[claim]
            if claim in self._controls:
                self.wake()
            self._post(messages.PayloadStarted(claim))
        for claim, exit_code in status.over.items():
            if self._ends(claim):
                ended = None if exit_code == NOT_BY_ITSELF else exit_code
                self._post(messages.PayloadEnded(claim, ended))
            else:
                self._settled.add((glidein, claim))
        for claim in status.refused:
            if self._ends(claim):
                self._post(messages.PayloadRefused(claim, "its glidein was told to end it before it began"))

    def _ends(self, claim: str) -> bool:
        """True if the end of a claim is news."""
        self._controls.pop(claim, None)
        self._running.discard(claim)
        if claim in self._over:
            return False
        self._over.add(claim)
        self._lively = now().monotonic
        return True
