import * as z from 'zod/mini';

/** Path of the notes in a source archive. A client never packs a folder of this name from its user's files. */
export const sourceNotesPath = '.mps/source.json';

/** Maximum bytes of the notes. */
export const sourceNotesMaxBytes = 64 * 1024;

/** Maximum number of paths that the notes name. */
export const maxLeftOut = 20;

const text = (max: number) => z.string().check(z.minLength(1), z.maxLength(max));

/** A path in the source: relative, with `/`, and without `.`, `..` and control characters. A folder may end with `/`. */
const SourcePath = text(1024).check(
  z.refine(
    (path) =>
      !/[\p{Cc}\\]/u.test(path) &&
      path
        .replace(/\/$/, '')
        .split('/')
        .every((name) => !['', '.', '..'].includes(name)),
    { error: 'must be a path inside the source, such as app or data/raw' },
  ),
);

const LeftOut = z.strictObject({
  path: SourcePath,
  /** `ignored`: by a rule of `.gitignore`. `submodule`: of git, and not checked out. */
  why: z.enum(['ignored', 'submodule']),
  /** Command that provides it, as its user would type it. */
  advice: text(2048),
  /** Name of the data set that takes its place. */
  dataset: z.optional(text(128)),
});

/**
 * What a client tells a training about a source, in the file {@link sourceNotesPath} of the archive. So it belongs to
 * the SHA-256 of the source, and reruns and sweeps have it, too.
 */
export const SourceNotes = z.strictObject({
  /** Folder of the source in which the command runs. Default: the source itself. */
  folder: z.optional(SourcePath),
  /** Command that sends the whole git repository, if the source is only a folder of it. */
  whole: z.optional(text(2048)),
  /** What is in the user's folder, but not in the source. */
  left_out: z.optional(z.array(LeftOut).check(z.maxLength(maxLeftOut))),
});
export type SourceNotes = z.infer<typeof SourceNotes>;
export type LeftOut = z.infer<typeof LeftOut>;
