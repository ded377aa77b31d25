// Shows times in the time zone of the browser, and updates relative times while the page is open.

const MINUTE = 60_000;

/** Some browsers write Sept, the server and others Sep. */
const shortMonth = (text) => text.replace("Sept", "Sep");

/** The same text as `Moment` on the server, with dates in the time zone of the browser. */
function relativeText(at, now) {
  const distance = Math.abs(now - at);
  if (distance < MINUTE) return "just now";
  if (distance >= 7 * 1440 * MINUTE) {
    const isThisYear = at.getFullYear() === new Date(now).getFullYear();
    const year = isThisYear ? {} : { year: "numeric" };
    return shortMonth(at.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...year }));
  }
  const units = [
    ["d", 1440 * MINUTE],
    ["h", 60 * MINUTE],
    ["min", MINUTE],
  ];
  const [unit, length] = units.find(([, each]) => distance >= each);
  const amount = `${Math.floor(distance / length)} ${unit}`;
  return at > now ? `in ${amount}` : `${amount} ago`;
}

/** Dates have one form, whatever the language of the browser, as the rest of the page. */
const exactFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

function showMoments(root) {
  const now = Date.now();
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const isRelative = time.dataset.said !== undefined;
    const exact = shortMonth(exactFormat.format(at));
    const text = isRelative ? relativeText(at, now) : exact;
    time.title = isRelative ? exact : time.dateTime;
    if (time.textContent !== text) time.textContent = text;
  }
}

showMoments(document);
setInterval(() => {
  if (!document.hidden) showMoments(document);
}, MINUTE);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) showMoments(document);
});
