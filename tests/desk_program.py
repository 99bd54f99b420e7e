"""A small program with a window, for tests of desktops: a field, a button that opens a dialog, a place that does
nothing, and a line that shows what mouse and keyboard did last. `python desk_program.py [grab|moving|stuck]`."""

from __future__ import annotations

import sys
import time
import tkinter

root = tkinter.Tk(className="desk")
root.title("desk")
root.geometry("600x400+0+0")
said = tkinter.Label(root, text="nothing", anchor="w", font=("Helvetica", 18))
said.place(x=20, y=300, width=560)
field = tkinter.Entry(root, insertofftime=0, font=("Helvetica", 18))
field.place(x=20, y=20, width=260, height=50)


def say(text: str) -> None:
    said.configure(text=text)


def change() -> None:
    if field.get() not in root.title():
        root.title(f"*desk {field.get()}")


def open_dialog() -> None:
    dialog = tkinter.Toplevel(root)
    dialog.title("Sure?")
    dialog.geometry("300x120+100+100")
    button = tkinter.Button(dialog, text="Close", command=dialog.destroy)
    button.place(x=20, y=20, width=120, height=60)
    dialog.bind("<Escape>", lambda event: dialog.destroy())
    if "stuck" in sys.argv:  # a modal dialog that nothing closes, and whose button hangs
        dialog.unbind("<Escape>")
        dialog.protocol("WM_DELETE_WINDOW", lambda: None)
        button.configure(command=lambda: time.sleep(600))
        dialog.wait_visibility()
        dialog.grab_set()
        root.wait_window(dialog)


tkinter.Button(root, text="Open", command=open_dialog).place(x=320, y=20, width=120, height=50)
tkinter.Button(root, text="Quit", command=root.destroy).place(x=460, y=20, width=120, height=50)
field.bind("<KeyRelease>", lambda event: change())
canvas = tkinter.Canvas(root, background="white", highlightthickness=0, takefocus=0)
canvas.place(x=20, y=100, width=560, height=180)
for button, name in ((1, "left"), (2, "middle"), (3, "right")):
    canvas.bind(f"<Button-{button}>", lambda event, name=name: say(f"{name} {event.x} {event.y}"))  # type: ignore[misc]
canvas.bind("<Double-Button-1>", lambda event: say("double"))
canvas.bind("<Triple-Button-1>", lambda event: say("triple"))
canvas.bind("<B1-Motion>", lambda event: say(f"dragged {event.x} {event.y}"))
canvas.bind("<Button-4>", lambda event: say("wheel up"))
canvas.bind("<Button-5>", lambda event: say("wheel down"))
root.bind("<Control-s>", lambda event: root.title(root.title().lstrip("*")))
root.bind("<KeyPress-F5>", lambda event: say("F5 down"))
root.bind("<KeyRelease-F5>", lambda event: say("F5 up"))
if "moving" in sys.argv:

    def move(x: int = 0) -> None:
        canvas.delete("all")
        canvas.create_rectangle(x, 20, x + 40, 60, fill="red")
        root.after(30, move, (x + 7) % 500)

    move()
if "grab" in sys.argv:
    root.after(300, root.grab_set_global)
root.mainloop()
