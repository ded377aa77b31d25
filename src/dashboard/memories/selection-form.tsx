/** @jsxRuntime automatic @jsxImportSource #pages */

import { Button } from "../../pages/button.tsx";
import { Choice, Field } from "../../pages/field.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { PROJECT_NAMES } from "./project-switch.tsx";

/** The buttons and fields for the selected memories, at the end of the list's form. */
export function SelectionFields({
  hasMore,
}: {
  /** Whether the list has other pages, whose memories can be included. */
  hasMore: boolean;
}): Markup {
  return (
    <fieldset class="selection panel">
      <legend class="hidden-text">With the selected memories</legend>
      <p class="selection-count" />
      {hasMore && (
        <Choice name="all" value="1">
          Move or delete all memories that match these filters, on other pages too
        </Choice>
      )}
      <div class="pair">
        <Field label="Tag" name="tag" maxlength={64} autocomplete="off" />
        <Button name="action" value="tag">
          Add tag
        </Button>
        <Button name="action" value="untag">
          Remove tag
        </Button>
      </div>
      <div class="pair">
        <Field
          label="Project"
          name="to_project"
          maxlength={128}
          autocomplete="off"
          list={PROJECT_NAMES}
          placeholder="none"
        />
        <Button name="action" value="move">
          Move
        </Button>
        <Button name="action" value="delete" kind="danger">
          Delete
        </Button>
      </div>
    </fieldset>
  );
}
