/** @jsxRuntime automatic @jsxImportSource #pages */
import { Fragment } from "../../pages/jsx-runtime.ts";
import { dayText } from "../../pages/moment.tsx";
import { titleOf } from "../../text/excerpt.ts";
import { ONLY, type Source, type View, viewPath } from "./memories-view.ts";

/** The filters of a view besides the project, each as a link to the view without it. */
export function FilterChips({ view, sources }: { view: View; sources: readonly Source[] }) {
  const chips = chipsOf(view, sources);
  if (chips.length === 0) return Fragment({});
  return (
    <ul class="chips" aria-label="Filters">
      {chips.map(([label, without]) => (
        <li>
          <a class="badge chip" href={viewPath({ ...view, cursor: "", ...without })}>
            <span class="hidden-text">Remove the filter </span>
            <bdi>{titleOf(label)}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}

type Chip = readonly [label: string, without: Partial<View>];

function chipsOf(view: View, sources: readonly Source[]): Chip[] {
  const { agent_id, session_id, source, captured, only, history, from, to } = view;
  const tags = view.tags.split(",").flatMap((tag) => tag.trim() || []);
  const author = sources.find(({ id }) => id === source)?.name ?? source;
  const chips: readonly (Chip | false)[] = [
    ...tags.map(
      (tag) => [`#${tag}`, { tags: tags.filter((each) => each !== tag).join() }] as const,
    ),
    agent_id !== "" && [`Agent: ${agent_id}`, { agent_id: "" }],
    session_id !== "" && [`Session: ${session_id}`, { session_id: "" }],
    source !== "" && [`Written by ${author}`, { source: "" }],
    captured === "true" && ["Captured", { captured: "" }],
    captured === "false" && ["Saved, not captured", { captured: "" }],
    only !== "" && [ONLY[only]?.label ?? only, { only: "" }],
    from !== "" && [`From ${dayOf(from)}`, { from: "" }],
    to !== "" && [`To ${dayOf(to)}`, { to: "" }],
    history !== "" && ["With superseded ones", { history: "" }],
  ];
  return chips.filter((chip) => chip !== false);
}

/** A day that a person entered, which may be none. */
function dayOf(text: string): string {
  return Number.isNaN(Date.parse(text)) ? text : dayText(text, { withYear: true });
}
