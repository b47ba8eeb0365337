"use strict";
// The server sends the parts of the page as often as they change. They are put in place, except while somebody reads with
// the keyboard in them, has selected text in them, points at a picture, or has paused.
const state = document.getElementById("state");
const pause = document.getElementById("pause");
let waiting = {};
let connected = false;
let paused = false;

function isBusy(part) {
	const active = document.activeElement, selection = document.getSelection();
	return part.hasAttribute("data-hold") && part.matches(":hover") ||
		part !== active && part.contains(active) ||
		selection && !selection.isCollapsed && part.contains(selection.anchorNode);
}

function update() {
	let held = false;
	for (const [name, html] of Object.entries(waiting)) {
		const part = document.getElementById(name);
		if (paused || isBusy(part)) {
			held = true;
			continue;
		}
		if (part.innerHTML !== html) {
			part.innerHTML = html;
		}
		delete waiting[name];
	}
	const text = !connected ? "connection lost, trying again" : paused ? "paused" : held ? "held while you read" : "live";
	if (state.textContent !== text) {
		state.textContent = text;
	}
}

const source = new EventSource(document.body.dataset.stream);
source.addEventListener("open", () => { connected = true; update(); });
source.addEventListener("error", () => { connected = false; update(); });
source.addEventListener("view", (event) => { Object.assign(waiting, JSON.parse(event.data)); update(); });
pause.hidden = false;
pause.addEventListener("click", () => {
	paused = !paused;
	pause.setAttribute("aria-pressed", String(paused));
	update();
});
for (const part of document.querySelectorAll("[data-live]")) {
	part.addEventListener("pointerleave", update);
	part.addEventListener("focusout", () => setTimeout(update));
}
