"""What the actions of the table call: carried out by the window and by the commands for jobs."""

from __future__ import annotations

from typing import Protocol


class JobHandlers(Protocol):
    """What can be done with the selected jobs."""

    def show(self, tab: str) -> None:
        """Show a tab of the inspector: story, logs, output, console."""
        ...

    def why(self) -> None:
        """Show where the job could run, and why not elsewhere."""
        ...

    def fetch(self) -> None:
        """Ask for a folder and fetch the output."""
        ...

    def resubmit(self, *, batch: bool = False) -> None:
        """Submit them once more, as batch jobs if so wanted."""
        ...

    def fetch_again(self) -> None:
        """Fetch the output into the folder chosen last."""

    def rerun(self) -> None:
        """Run those that failed again, each in its place."""
        ...

    def rerun_changed(self) -> None:
        """Ask what to change, then run those that failed again."""
        ...

    def open_batch(self) -> None:
        """Open the page of the batch of the first of them."""
        ...

    def edit(self) -> None:
        """Open a copy of the description in an editor."""
        ...

    def save_template(self) -> None:
        """Ask for a name and keep the description as a template."""
        ...

    def hold(self) -> None:
        """Keep them from being started."""
        ...

    def release(self) -> None:
        """Let them be started again."""
        ...

    def elsewhere(self) -> None:
        """Ask, then give up what is not heard from and run it elsewhere."""
        ...

    def cancel(self) -> None:
        """Ask, then cancel."""
        ...

    def purge(self) -> None:
        """Ask, then remove them with their files."""
        ...

    def tag(self) -> None:
        """Ask which tags they have."""
        ...

    def copy_ids(self) -> None:
        """Put their ids on the clipboard."""
        ...

    def copy_command(self) -> None:
        """Put the command that submits them on the clipboard."""
        ...


class WindowHandlers(Protocol):
    """What the window can do."""

    @property
    def jobs(self) -> JobHandlers:
        """The commands for the selected jobs."""
        ...

    def compare(self) -> None:
        """Open the selected jobs side by side."""
        ...

    def new(self) -> None:
        """Begin a job."""
        ...

    def open(self) -> None:
        """Ask for descriptions and open them."""
        ...

    def run_script(self) -> None:
        """Ask for scripts or programs and show what would run."""
        ...

    def save_template(self) -> None:
        """Ask for a name and keep the description in front as a template."""
        ...

    def editing(self) -> bool:
        """True while a description is in front."""
        ...

    def save(self) -> None:
        """Write the description in front into its file."""
        ...

    def save_as(self) -> None:
        """Ask for a name and write the description in front under it."""
        ...

    def submit(self) -> None:
        """Submit the description in front, or begin one."""
        ...

    def add_site(self) -> None:
        """Open the sheet that adds a site."""
        ...

    def close_tab(self) -> None:
        """Close the tab in front."""
        ...

    def quit(self) -> None:
        """Close the window; the broker and its jobs go on."""
        ...

    def filter(self) -> None:
        """Put the keyboard into the query line."""
        ...

    def search_logs(self) -> None:
        """Search in the logs of the jobs of the query, or of those selected."""
        ...

    def save_query(self, *, project: bool = False) -> None:
        """Ask for a name, of a project for its folder too, and keep the query in the sidebar."""
        ...

    def fold_batches(self, *, unfold: bool) -> None:
        """Fold or unfold all batches of the table."""
        ...

    def columns(self) -> None:
        """Offer the columns of the table."""
        ...

    def export(self) -> None:
        """Ask for a file and write the jobs of the query."""
        ...

    def show_page(self, name: str) -> None:
        """Show a page: jobs, sites, statistics, welcome, resources, scheduler, match,
        simulation, slots."""
        ...

    def toggle_pane(self, name: str) -> None:
        """Show or hide a pane: left, right, bottom."""
        ...

    def step_pane(self, step: int) -> None:
        """Give the keyboard to the next pane (1), or the one before (-1)."""
        ...

    def reset_layout(self) -> None:
        """Put all panes back where they were at first."""
        ...

    def theme(self) -> None:
        """Change between light and dark."""
        ...

    def resize(self, step: int) -> None:
        """Make all text larger or smaller by so many pixels; 0: as it is at first."""
        ...

    def open_palette(self) -> None:
        """Search everything, actions among it."""
        ...

    def settings(self) -> None:
        """Open the settings."""
        ...

    def connect_now(self) -> None:
        """Connect to the broker, or start it, at once."""
        ...

    def help(self, page: str = "") -> None:
        """Show the help, at a page if one is named."""
        ...

    def shortcuts(self) -> None:
        """Show all keys."""
        ...

    def problem(self) -> None:
        """Show the details of the last problem of the window itself."""
        ...

    def about(self) -> None:
        """Say what this is."""
        ...
