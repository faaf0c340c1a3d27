import type { Omissions } from '../omissions.ts';
import type { WandbArtifact } from './wandb-run.ts';

/** Artifact with what W&B's artifacts of a run say of themselves: descriptions, metadata, aliases and references. */
export const artifactsFile = 'import/artifacts.json';

/** These are of W&B itself: the tables and the history of a run, and how to launch it again. */
const ownTypes = /^(run_table|wandb-history|job)$/;

/** Describe the artifacts that a program logged. */
export const describeArtifacts = (artifacts: readonly WandbArtifact[]): object[] =>
  numbered(artifacts.filter(({ type }) => !ownTypes.test(type))).map(
    ({ artifact: { name, type, digest, description, metadata, aliases, files }, folder }) => ({
      ...{ name, type, digest, folder, description, metadata, aliases },
      references: files
        .filter(({ reference }) => reference !== '')
        .map(({ path, reference }) => ({ path, reference })),
    }),
  );

/** Yield the files of the artifacts that are on this machine, by their paths here. */
export function* artifactFiles(
  artifacts: readonly WandbArtifact[],
  omissions: Omissions,
): Generator<{ path: string; local: string }> {
  for (const { type, files } of artifacts) {
    // The tables are among the files of the run, but not the pictures in their cells.
    if (type !== 'run_table') continue;
    for (const { path, local } of files)
      if (local !== '' && !path.endsWith('.table.json')) yield { path, local };
  }
  for (const { artifact, folder } of numbered(artifacts.filter(({ type }) => !ownTypes.test(type)))) {
    const { name, files } = artifact;
    if (files.length === 0) omissions.add(`artifact ${name}: its list of files is not on this machine`);
    for (const { path, local, reference } of files)
      if (local !== '') yield { path: `${folder}/${path}`, local };
      else if (reference !== '') omissions.add(`artifact ${name}: references, listed in ${artifactsFile}`);
      else omissions.add(`artifact ${name}: files that are not on this machine`);
  }
}

/** Give each artifact a folder. Versions of one name, such as a checkpoint of each epoch, have one each. */
function numbered(artifacts: readonly WandbArtifact[]): { artifact: WandbArtifact; folder: string }[] {
  const versions = new Map<string, WandbArtifact[]>();
  for (const artifact of artifacts) {
    const known = versions.get(artifact.name) ?? [];
    versions.set(artifact.name, known);
    // An equal digest is the same version.
    if (artifact.digest === '' || known.every(({ digest }) => digest !== artifact.digest))
      known.push(artifact);
  }
  return [...versions].flatMap(([name, list]) =>
    list.map((artifact, version) => ({
      artifact,
      folder: list.length === 1 ? `artifacts/${name}` : `artifacts/${name}/v${version}`,
    })),
  );
}
