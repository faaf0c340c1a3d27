import { Header, Pax } from 'tar';
import { EnvironmentError } from '../environment-error.ts';

export interface TarEntry {
  type: string;
  path: string;
  linkpath: string;
  /** Permission bits as stored, setuid and the like included. */
  mode: number;
  size: number;
  mtime: Date;
}

/** Receives the entries of an archive in order: `begin`, the content of a file in pieces, `end`. */
export interface TarSink {
  begin(entry: TarEntry): void;
  data(piece: Buffer): void;
  end(): void;
}

const longestExtendedHeader = 64 * 1024;

/**
 * Reads a tar stream into a sink, synchronously piece by piece. Much faster than an event emitter for each entry
 * (a tenth of the time for 11,000 files) and stricter: anything malformed ends the reading.
 * @throws EnvironmentError `pack-refused` for a wrong checksum, a missing end or an oversized header
 */
export async function readTar(stream: AsyncIterable<Buffer>, sink: TarSink): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  let wanted = 0;
  let padding = 0;
  let extension: Pax | undefined;
  let extended: { open: boolean; pieces: Buffer[] } = { open: false, pieces: [] };
  let zeroBlocks = 0;

  const finish = (): void => {
    if (extended.open)
      extension = Pax.parse(Buffer.concat(extended.pieces).toString('utf8'), extension, false);
    else sink.end();
    extended = { open: false, pieces: [] };
  };

  const start = (header: Header): void => {
    const size = header.size ?? 0;
    if (!header.cksumValid || !Number.isSafeInteger(size)) throw refused('a header is damaged');
    wanted = size;
    padding = (512 - (size % 512)) % 512;
    if (header.type === 'ExtendedHeader') {
      if (size > longestExtendedHeader) throw refused('a header is too large');
      extended = { open: true, pieces: [] };
    } else {
      const { type, mode = 0, mtime = new Date(0) } = header;
      // The header's own reading would put the ustar prefix before an extended path and forget an extended link.
      const path = extension?.path ?? header.path ?? '';
      const linkpath = extension?.linkpath ?? header.linkpath ?? '';
      sink.begin({ type, path, linkpath, mode, size, mtime });
      extension = undefined;
    }
    if (wanted === 0) finish();
  };

  for await (const chunk of stream) {
    const buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (at < buffer.length) {
      if (wanted > 0) {
        const piece = buffer.subarray(at, at + wanted);
        if (extended.open) extended.pieces.push(piece);
        else sink.data(piece);
        wanted -= piece.length;
        at += piece.length;
        if (wanted === 0) finish();
      } else if (padding > 0) {
        const skipped = Math.min(padding, buffer.length - at);
        padding -= skipped;
        at += skipped;
      } else {
        if (buffer.length - at < 512) break;
        const header = new Header(buffer, at, extension);
        at += 512;
        if (header.nullBlock) zeroBlocks += 1;
        else if (zeroBlocks > 0) throw refused('something follows its end');
        else start(header);
      }
    }
    rest = buffer.subarray(at);
  }
  if (zeroBlocks < 2 || wanted > 0 || extended.open) throw refused('it ends too early');
}

function refused(why: string): EnvironmentError {
  return new EnvironmentError('pack-refused', `The packed environment cannot be used: ${why}.`);
}
