import { readCanonical } from '../canonical-json.ts';
import { fault } from '../project-archive-error.ts';
import { readLines } from '../read-lines.ts';
import { RegisteredDocument, VersionDocument } from '../registry-documents.ts';
import { RegistryRules } from '../resolved-rules.ts';
import type { ArchiveFile } from './archive-file.ts';
import type { OpenArchive } from './open-archive.ts';
import { documentOf, fileAt, requireReferences, requireRules } from './read-document.ts';

/** Most bytes of a line, whose references may be longer than ids. */
const lineMaxBytes = 1_000_000;

/** The versions of a registered model, in the order of their numbers. @throws ProjectArchiveError */
export async function* readVersions(
  { contents }: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
): AsyncGenerator<VersionDocument> {
  let last = 0;
  for await (const line of readLines(bytes, lineMaxBytes)) {
    const read = readCanonical(line, VersionDocument);
    const notThis = `what follows version ${last} in ${file.path} is not as this format has it`;
    if ('faults' in read && read.faults.length > 0)
      throw fault(...read.faults.map((one) => `${notThis}: ${one}`));
    if ('faults' in read || read.value.number <= last) throw fault(notThis);
    const { value } = read;
    // A name refers to nothing, whatever it is.
    const { user: _, ...said } = value;
    const resolved = requireReferences(contents, file, said);
    requireRules(file, `version ${value.number}: `, resolved, RegistryRules);
    last = value.number;
    yield value;
  }
}

/** The document of a registered model, whose aliases are those of versions that are contained. @throws ProjectArchiveError */
export async function readRegistered(
  archive: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
): Promise<RegisteredDocument> {
  const { files, contents } = archive;
  const value = await documentOf(bytes, file, RegisteredDocument);
  const { name: _, aliases, ...said } = value;
  requireRules(file, '', requireReferences(contents, file, said), RegistryRules);
  const [versions] = contents.registered.find(({ document }) => files[document] === file)?.rest ?? [];
  const isEmpty = versions === undefined || fileAt(files, versions).size === 0;
  if (isEmpty) throw fault(`${file.path} is without versions`);
  const aliased = new Set(Object.values(aliases));
  for await (const { number } of readVersions(archive, archive.read(versions), fileAt(files, versions)))
    aliased.delete(number);
  if (aliased.size > 0) throw fault(`${file.path} has an alias of a version that is not contained`);
  return value;
}
