// Keyboard shortcuts, as the dialog lists them. Single letters do nothing while text is being entered. `data-key` on a
// link or button names the key that clicks it.

const STORAGE_NAME = "ctxd-no-keys";

/** Single keys can be turned off, for example by people who use speech input (WCAG 2.2, 2.1.4). */
function hasSingleKeys() {
  try {
    return localStorage.getItem(STORAGE_NAME) === null;
  } catch {
    return true;
  }
}

function setSingleKeys(isOn) {
  try {
    if (isOn) localStorage.removeItem(STORAGE_NAME);
    else localStorage.setItem(STORAGE_NAME, "1");
  } catch {
    // If the browser stores nothing, single keys stay on.
  }
}

function takesText(element) {
  if (element.isContentEditable) return true;
  if (element instanceof HTMLInputElement)
    return !/^(checkbox|radio|button|submit)$/.test(element.type);
  return element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;
}

const rowLinks = () => [...document.querySelectorAll(".memory > .memory-text")];
const rowWithFocus = () => document.activeElement?.closest(".memory") ?? null;

/** Moves the focus by a number of rows. Without a focused row, the first one gets it. */
function moveInRows(steps) {
  const links = rowLinks();
  const present = links.findIndex((link) => link.parentElement === rowWithFocus());
  const link = links[present < 0 ? 0 : Math.min(links.length - 1, Math.max(0, present + steps))];
  link?.focus({ preventScroll: true });
  link?.parentElement.scrollIntoView({ block: "nearest" });
}

const boxOf = (row) => row?.querySelector('input[name="id"]');

function selectNone() {
  const boxes = [...document.querySelectorAll('.memory input[name="id"]:checked')];
  // Clicks fire the events that other scripts listen to.
  for (const box of boxes) box.click();
  return boxes.length > 0;
}

function openDialog(id) {
  const dialog = document.getElementById(id);
  if (!dialog) return false;
  if (!dialog.open) dialog.showModal();
  return true;
}

function goToSearch() {
  const field = document.querySelector('main input[type="search"]');
  if (!field) return openDialog("palette");
  field.focus();
  field.select();
  return true;
}

const KEYS = {
  "/": goToSearch,
  "?": () => openDialog("keys"),
  j: () => moveInRows(1),
  k: () => moveInRows(-1),
  x: () => boxOf(rowWithFocus())?.click(),
  e: () => {
    const link = rowWithFocus()?.querySelector(".memory-text");
    if (link) location.assign(`${link.href}/edit`);
    else return false;
  },
};

document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, altKey, target, defaultPrevented, isComposing } = event;
  if (defaultPrevented || isComposing || altKey) return;
  const isOpen = document.querySelector("dialog[open]") !== null;
  if ((ctrlKey || metaKey) && key.toLowerCase() === "k" && !event.shiftKey) {
    if (isOpen || openDialog("palette")) event.preventDefault();
    return;
  }
  if (ctrlKey || metaKey || isOpen || !(target instanceof Element) || takesText(target)) return;
  if (key === "Escape") {
    if (selectNone()) event.preventDefault();
    return;
  }
  if (key.length !== 1 || (event.repeat && !/[jk]/.test(key)) || !hasSingleKeys()) return;
  const done = Object.hasOwn(KEYS, key) && KEYS[key]() !== false;
  const named = done ? null : document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  named?.click();
  if (done || named) event.preventDefault();
});

document.addEventListener("click", (event) => {
  const opener = event.target instanceof Element && event.target.closest("[data-opens]");
  if (!opener || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (openDialog(opener.dataset.opens)) event.preventDefault();
});

const singleKeys = document.querySelector("[data-single-keys]");
if (singleKeys) {
  singleKeys.checked = hasSingleKeys();
  singleKeys.addEventListener("change", () => setSingleKeys(singleKeys.checked));
}

for (const hint of document.querySelectorAll(".opener kbd")) {
  if (/Mac|iPhone|iPad/.test(navigator.platform)) hint.textContent = "⌘ K";
  hint.hidden = false;
}
