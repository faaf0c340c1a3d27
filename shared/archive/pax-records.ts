import { ArchiveError } from './archive-error.ts';
import { decodeName } from './entry-path.ts';

/** Fields of the next entry that an extended header replaces. */
export interface PaxFields {
  path?: string;
  linkpath?: string;
  size?: number;
}

/**
 * Parse the records `<length> <key>=<value>\n` of a pax extended header (POSIX.1-2001).
 * Times, owners and attributes are ignored. A record that would change how the archive is read is understood or
 * refused.
 * @throws ArchiveError for malformed records
 */
export function parsePaxRecords(body: Buffer): PaxFields {
  const fields: PaxFields = {};
  for (let at = 0; at < body.length; ) {
    const blank = body.indexOf(0x20, at);
    const digits = body.toString('latin1', at, blank === -1 ? at : Math.min(blank, at + 10));
    const end = at + Number(digits);
    const equals = body.indexOf(0x3d, blank);
    if (
      !/^[1-9]\d*$/.test(digits) ||
      end > body.length ||
      body[end - 1] !== 0x0a ||
      equals >= end ||
      equals === -1
    ) {
      throw new ArchiveError('the archive is damaged: a pax header is not valid');
    }
    apply(fields, body.toString('utf8', blank + 1, equals), body.subarray(equals + 1, end - 1));
    at = end;
  }
  return fields;
}

function apply(fields: PaxFields, key: string, value: Buffer): void {
  if (key.startsWith('GNU.sparse.'))
    throw new ArchiveError('the archive holds a sparse file; pack it without');
  if (key === 'path') fields.path = decodeName(value);
  if (key === 'linkpath') fields.linkpath = decodeName(value);
  if (key === 'size') {
    const size = /^\d+$/.test(value.toString('latin1')) ? Number(value.toString('latin1')) : Number.NaN;
    if (!Number.isSafeInteger(size))
      throw new ArchiveError('the archive is damaged: a pax size is no number');
    fields.size = size;
  }
}
