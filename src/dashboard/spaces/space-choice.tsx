/** @jsxRuntime automatic @jsxImportSource #pages */
import { PERSONAL, type Space } from "../../accounts/space.ts";
import { Button } from "../../pages/button.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Fragment } from "../../pages/jsx-runtime.ts";
import { peopleCount } from "../../text/number-text.ts";
import { type Section, SPACES_PATH, spacePath } from "../navigation.tsx";
import type { Place, Visit } from "../session.ts";

/** Where the choice of a space is sent. */
export const CHOOSE_PATH = `${SPACES_PATH}/choose`;

/** Sections that show the memories of the chosen space. */
export const OF_MEMORIES: readonly Section[] = [
  "overview",
  "memories",
  "projects",
  "activity",
  "map",
];

/** The form at the top that chooses whose memories the dashboard shows. */
export function SpaceSwitch({ visit, section }: { visit: Visit; section: Section | null }) {
  const { spaces, chosen, token } = visit;
  return (
    <PostForm action={CHOOSE_PATH} token={token} class="actions space-switch">
      <label class="hidden-text" for="space-choice">
        Whose memories
      </label>
      <select id="space-choice" name="space">
        <option value={PERSONAL} selected={chosen === null}>
          Personal
        </option>
        {spaces.map(({ id, name }) => (
          <option value={id} selected={chosen?.id === id}>
            {name}
          </option>
        ))}
      </select>
      <input type="hidden" name="section" value={section ?? ""} />
      <Button>Switch</Button>
      <a href={SPACES_PATH}>Spaces</a>
    </PostForm>
  );
}

/** The line that says whose memories a page shows. Scripts compare `data-space`. */
export function Whose({ space, people }: Place) {
  if (space === null) {
    return (
      <p class="whose faint" data-space={PERSONAL}>
        <strong>Personal</strong>: only you see these memories.
      </p>
    );
  }
  return (
    <p class="notice whose shared" data-space={space.id}>
      <strong>
        <bdi>{space.name}</bdi>
      </strong>
      {": "}
      <a href={spacePath(space.id)}>{peopleCount(people)}</a> {people === 1 ? "sees" : "see"} these
      memories
      {space.role === "read" ? ". You may read them." : "."}
    </p>
  );
}

/** What a form that saves says in a space: that others will see it. */
export function SeenBy({ visit: { place } }: { visit: Visit }) {
  if (!place?.space) return Fragment({});
  const { space, people } = place;
  return (
    <p class="notice">
      {`${peopleCount(people)} will see this: it is saved in `}
      <strong>
        <bdi>{space.name}</bdi>
      </strong>
      .
    </p>
  );
}

/** The button that shows the memories of a space. */
export function ShowMemories({ space, token }: { space: Pick<Space, "id">; token: string }) {
  return (
    <PostForm action={CHOOSE_PATH} token={token}>
      <input type="hidden" name="space" value={space.id} />
      <input type="hidden" name="section" value="memories" />
      <Button kind="main">Show its memories</Button>
    </PostForm>
  );
}
