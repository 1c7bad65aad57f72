import { LanternError } from '../faults.ts';
import { builtin, codeOf, makeFolder } from '../files.ts';
import { isRecord, parseJson } from '../json.ts';

/** How far one list was read: everything up to the cursor, and these items of the page after it. */
export interface Track {
  readonly cursor: string | null;
  readonly done: readonly string[];
}

/** How far an inbox was read. Plain JSON; the cursors in it are the server's and mean nothing to anybody else. */
export interface Place {
  readonly events: Track;
  readonly resumes: Track;
}

/** Where the place is kept between two runs. `load` answers null when there is none yet. */
export interface CursorStore {
  load(): Promise<Place | null>;
  save(place: Place): Promise<void>;
}

const START: Track = { cursor: null, done: [] };

/**
 * The place in a file of its own that only its owner can read; replaced as a whole, so that a crash leaves the old
 * one or the new one.
 *
 * @example
 * const inbox = createInbox({ url, apiKey, cursor: fileCursor('./inbox.cursor') });
 */
export function fileCursor(file: string): CursorStore {
  const { fs, path } = builtin();
  const target = path.resolve(file);

  async function load(): Promise<Place | null> {
    const text = await fs.readFile(target, 'utf8').catch((cause: unknown) => {
      if (codeOf(cause) === 'ENOENT') return null;
      throw unusable('read', target, cause);
    });
    return text === null ? null : demandPlace(parseJson(text), target);
  }

  async function write(place: Place): Promise<void> {
    await makeFolder(path.dirname(target));
    const fresh = `${target}.${crypto.randomUUID()}.tmp`;
    try {
      const handle = await fs.open(fresh, 'wx', 0o600);
      try {
        await handle.writeFile(`${JSON.stringify(place)}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await fs.rename(fresh, target);
    } catch (cause) {
      await fs.rm(fresh, { force: true }).catch(() => undefined);
      throw cause;
    }
  }

  const save = (place: Place) =>
    write(place).catch((cause: unknown) => {
      throw unusable('written', target, cause);
    });
  return { load, save };
}

/** The place in memory: after a restart the inbox is read from its beginning. */
export function memoryCursor(): CursorStore {
  let kept: Place | null = null;
  return {
    load: async () => kept,
    save: async (place) => {
      kept = place;
    },
  };
}

/** The place as the inbox uses it: loaded once, saved after every step. */
export function createBookmark(store: CursorStore) {
  let loading: Promise<Place> | null = null;

  async function current(): Promise<Place> {
    loading ??= store.load().then(
      (place) => place ?? { events: START, resumes: START },
      (cause: unknown) => {
        // The next reader may succeed where this one failed.
        loading = null;
        throw cause;
      },
    );
    return loading;
  }

  async function set(list: keyof Place, track: Track): Promise<void> {
    const place = { ...(await current()), [list]: track };
    loading = Promise.resolve(place);
    await store.save(place);
  }

  return {
    at: async (list: keyof Place) => (await current())[list],
    /** One item of the page after the cursor was handled. */
    mark: async (list: keyof Place, id: string) => {
      const { cursor, done } = (await current())[list];
      await set(list, { cursor, done: [...done, id] });
    },
    /** The page was handled to its end. */
    turn: async (list: keyof Place, cursor: string) => {
      const track = (await current())[list];
      if (track.cursor !== cursor || track.done.length > 0) await set(list, { cursor, done: [] });
    },
  };
}

export type Bookmark = ReturnType<typeof createBookmark>;

function demandPlace(value: unknown, file: string): Place {
  const events = isRecord(value) ? trackOf(value.events) : null;
  const resumes = isRecord(value) ? trackOf(value.resumes) : null;
  if (events !== null && resumes !== null) return { events, resumes };
  // Starting over silently would hand everything out a second time.
  const message = `${file} does not hold the place in an inbox: restore it, or remove it to read the inbox from its beginning.`;
  throw new LanternError('cursor_failed', message);
}

function trackOf(value: unknown): Track | null {
  if (!isRecord(value) || !Array.isArray(value.done)) return null;
  const cursor = value.cursor === null || typeof value.cursor === 'string' ? value.cursor : undefined;
  return cursor === undefined ? null : { cursor, done: value.done.map(String) };
}

function unusable(verb: string, file: string, cause: unknown): LanternError {
  const message = `The cursor file ${file} cannot be ${verb} (${codeOf(cause)}): give it a path that can be.`;
  return new LanternError('cursor_failed', message, { cause });
}
