// Checks whether the first agent has connected, while the page is visible. Without scripts, a link reloads the page.

/** Milliseconds between two checks: at first, and after two minutes. */
const CHECK_MS = 2_000;
const LATER_CHECK_MS = 10_000;
const LATER_AFTER_MS = 120_000;

const waiting = () => document.querySelector("[data-arrival]:not([data-arrival=come])");
const since = performance.now();
let isChecking = false;

async function checkArrival() {
  if (isChecking || document.hidden || !waiting()) return;
  isChecking = true;
  try {
    const response = await fetch(location.href, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const come = response.ok && page.querySelector("[data-arrival]");
    // Screen readers announce changes only within the same element.
    const shown = waiting();
    if (come && shown && come.dataset.arrival !== shown.dataset.arrival) {
      shown.replaceChildren(...document.importNode(come, true).childNodes);
      shown.className = come.className;
      shown.dataset.arrival = come.dataset.arrival;
    }
  } catch {
    // The server may be restarting. The next check tries again.
  }
  isChecking = false;
  scheduleCheck();
}

function scheduleCheck() {
  if (waiting())
    setTimeout(
      checkArrival,
      performance.now() - since < LATER_AFTER_MS ? CHECK_MS : LATER_CHECK_MS,
    );
}

document.addEventListener("visibilitychange", checkArrival);
scheduleCheck();
