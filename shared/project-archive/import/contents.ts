import { maxConfigs } from '../../data/projects/config.ts';
import { fault } from '../project-archive-error.ts';
import type { ArchiveFile } from './archive-file.ts';

/** Files of one thing by their indexes in the list of an archive: its document, and what stands behind it. */
export interface Group {
  document: number;
  rest: number[];
}

/** What an archive contains, by the list of its files. */
export interface Contents {
  project: number;
  configs: Group[];
  uploads: number[];
  experiments: Group[];
  models: Group[];
  /** Registered models; behind the document of each are its versions. */
  registered: Group[];
}

/**
 * Group the files of an archive in the order that every archive has: the project, its configurations, sources and data
 * sets, then experiment by experiment, model by model, registered model by registered model.
 * @throws ProjectArchiveError for another order, or what belongs to nothing
 */
export function contentsOf(files: readonly ArchiveFile[]): Contents {
  const contents: Contents = {
    project: 0,
    configs: [],
    uploads: [],
    experiments: [],
    models: [],
    registered: [],
  };
  if (files[0]?.placed.of !== 'project') throw fault('it does not begin with a project');
  const ranks = { config: 1, upload: 2, experiment: 3, model: 4, registered: 5 } as const;
  const groupsOf = {
    experiment: contents.experiments,
    model: contents.models,
    registered: contents.registered,
  } as const;
  let rank = 0;
  let config_id = '';
  for (const [index, { path, placed }] of files.entries()) {
    if (index === 0) continue;
    const misplaced = () => fault(`${JSON.stringify(path.slice(0, 200))} stands at a place where it cannot`);
    const enter = (next: number) => {
      if (next < rank) throw misplaced();
      rank = next;
    };
    switch (placed.of) {
      case 'project':
        throw misplaced();
      case 'config':
        enter(ranks.config);
        config_id = placed.config_id;
        contents.configs.push({ document: index, rest: [] });
        break;
      case 'config-version':
        enter(ranks.config);
        if (placed.config_id !== config_id) throw misplaced();
        contents.configs.at(-1)?.rest.push(index);
        break;
      case 'upload':
        enter(ranks.upload);
        if (files[index]?.sha256 !== placed.sha256)
          throw fault(`the digest of ${path} is not the one of its name`);
        contents.uploads.push(index);
        break;
      case 'experiment':
      case 'model':
      case 'registered': {
        enter(ranks[placed.of]);
        const groups = groupsOf[placed.of];
        if (placed.number !== groups.length + 1) throw misplaced();
        groups.push({ document: index, rest: [] });
        break;
      }
      default: {
        const of =
          placed.of === 'model-file' ? 'model' : placed.of === 'versions' ? 'registered' : 'experiment';
        enter(ranks[of]);
        const groups = groupsOf[of];
        if (placed.number !== groups.length || groups.length === 0) throw misplaced();
        groups.at(-1)?.rest.push(index);
      }
    }
  }
  if (contents.configs.length > maxConfigs)
    throw fault(`it has ${contents.configs.length} configurations; a project has ${maxConfigs} at most`);
  return contents;
}
