// Looks whether the first agent has come, as long as the page is seen. Without scripts a link does it.

const SOON = 2_000;
const LATE = 10_000;
/** Milliseconds after which it is looked less often: the person does something else. */
const PATIENCE = 120_000;

const waiting = () => document.querySelector("[data-arrival=none]");
const since = performance.now();
let isLooking = false;

async function look() {
  if (isLooking || document.hidden || !waiting()) return;
  isLooking = true;
  try {
    const response = await fetch(location.href, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const come = response.ok && page.querySelector("[data-arrival=come]");
    // What is read out is what changes in the same element.
    const shown = waiting();
    if (come && shown) {
      shown.replaceChildren(...document.importNode(come, true).childNodes);
      shown.className = come.className;
      shown.dataset.arrival = "come";
    }
  } catch {
    // The server is away for a moment, as while it starts anew.
  }
  isLooking = false;
  next();
}

function next() {
  if (waiting()) setTimeout(look, performance.now() - since < PATIENCE ? SOON : LATE);
}

document.addEventListener("visibilitychange", look);
next();
