import type { MergeInsertBuilder, Table } from "@lancedb/lancedb";
import type { LanceDb } from "../../src/native/lancedb.ts";

export type Write = "add" | "merge" | "delete";

/**
 * LanceDB with someone who is told of every write before it is made, and may hold it up, or have it
 * fail by throwing. Everything else is the library's own.
 * @param afterWrite comes before the library's answer
 */
export function watchWrites(
  beforeWrite: (write: Write) => Promise<void>,
  afterWrite: (write: Write) => void = () => {},
) {
  const watched = async <Result>(write: Write, run: () => Promise<Result>): Promise<Result> => {
    await beforeWrite(write);
    const result = await run();
    afterWrite(write);
    return result;
  };

  const watchTable = (table: Table): Table => {
    const add = table.add.bind(table);
    const remove = table.delete.bind(table);
    const merge = table.mergeInsert.bind(table);
    return Object.assign(table, {
      add: (...args: Parameters<typeof add>) => watched("add", () => add(...args)),
      delete: (...args: Parameters<typeof remove>) => watched("delete", () => remove(...args)),
      mergeInsert: (...args: Parameters<typeof merge>) => watchMerge(merge(...args)),
    });
  };

  /** Each step of a merge returns a builder of its own. */
  const watchMerge = (builder: MergeInsertBuilder): MergeInsertBuilder => {
    const update = builder.whenMatchedUpdateAll.bind(builder);
    const insert = builder.whenNotMatchedInsertAll.bind(builder);
    const execute = builder.execute.bind(builder);
    return Object.assign(builder, {
      whenMatchedUpdateAll: () => watchMerge(update()),
      whenNotMatchedInsertAll: () => watchMerge(insert()),
      execute: (...args: Parameters<typeof execute>) => watched("merge", () => execute(...args)),
    });
  };

  return (lancedb: LanceDb): LanceDb => {
    const connect: LanceDb["connect"] = async (...args: unknown[]) => {
      const connection = await Reflect.apply(lancedb.connect, lancedb, args);
      const create = connection.createEmptyTable.bind(connection);
      return Object.assign(connection, {
        createEmptyTable: async (...args: Parameters<typeof create>) =>
          watchTable(await create(...args)),
      });
    };
    return { ...lancedb, connect };
  };
}
