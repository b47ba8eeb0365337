"use strict";
// The server sends the picture and the tables as often as they change. They are
// put in place, except while somebody points at them, reads with the keyboard in
// them, has selected text, or has paused.
const parts = {picture: document.getElementById("picture"), tables: document.getElementById("tables")};
const state = document.getElementById("state");
const leaders = document.getElementById("leaders");
const pause = document.getElementById("pause");
let waiting = {};
let connected = false;
let paused = false;

function isBusy(part) {
	const active = document.activeElement, selection = document.getSelection();
	return part === parts.picture && part.matches(":hover") ||
		part !== active && part.contains(active) ||
		selection && !selection.isCollapsed && part.contains(selection.anchorNode);
}

function update() {
	let held = false;
	for (const [name, part] of Object.entries(parts)) {
		if (!(name in waiting)) {
			continue;
		}
		if (paused || isBusy(part)) {
			held = true;
			continue;
		}
		part.innerHTML = waiting[name];
		delete waiting[name];
	}
	const text = !connected ? "connection lost, trying again" : paused ? "paused" : held ? "held while you read" : "live";
	if (state.textContent !== text) {
		state.textContent = text;
	}
}

const source = new EventSource("elections/events" + location.search);
source.addEventListener("open", () => { connected = true; update(); });
source.addEventListener("error", () => { connected = false; update(); });
source.addEventListener("view", (event) => {
	const view = JSON.parse(event.data);
	waiting = {picture: view.picture, tables: view.tables};
	if (leaders.textContent !== view.leaders) {
		leaders.textContent = view.leaders;
	}
	update();
});
pause.hidden = false;
pause.addEventListener("click", () => {
	paused = !paused;
	pause.setAttribute("aria-pressed", String(paused));
	update();
});
for (const part of Object.values(parts)) {
	part.addEventListener("pointerleave", update);
	part.addEventListener("focusout", () => setTimeout(update));
}
