import { useMemo, useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import type { Artifact } from '../api/experiments.ts';
import { byName } from '../preview/preview-file.ts';
import { Icon } from '../ui/icon.tsx';

interface Folder {
  /** Path with a slash at the end; empty for the top. */
  path: string;
  folders: Map<string, Folder>;
  files: Artifact[];
  count: number;
  bytes: number;
}

const newFolder = (path: string): Folder => ({ path, folders: new Map(), files: [], count: 0, bytes: 0 });

function treeOf(artifacts: readonly Artifact[]): Folder {
  const top = newFolder('');
  for (const artifact of [...artifacts].sort((a, b) => byName(a.path, b.path))) {
    const names = artifact.path.split('/').slice(0, -1);
    let at = top;
    for (const name of names) {
      const next = at.folders.get(name) ?? newFolder(`${at.path}${name}/`);
      at.folders.set(name, next);
      at = next;
      at.count += 1;
      at.bytes += artifact.size;
    }
    at.files.push(artifact);
  }
  return top;
}

const maxFiles = 200;

function Level({
  folder,
  depth,
  opened,
  onToggle,
  chosen,
  onChoose,
}: {
  folder: Folder;
  depth: number;
  opened: ReadonlySet<string>;
  onToggle: (path: string) => void;
  chosen: string | undefined;
  onChoose: (path: string) => void;
}) {
  const [isWhole, setWhole] = useState(false);
  const files = isWhole ? folder.files : folder.files.slice(0, maxFiles);
  const indent = { paddingLeft: `${0.5 + depth * 1.1}rem` };
  return (
    <ul>
      {[...folder.folders].map(([name, inner]) => {
        const isOpen = opened.has(inner.path);
        return (
          <li key={inner.path}>
            <button
              type="button"
              style={indent}
              aria-expanded={isOpen}
              onClick={() => onToggle(inner.path)}
              class="folder"
            >
              <Icon name={isOpen ? 'down' : 'right'} size={12} />
              <bdi title={inner.path}>{name}</bdi>
              <span class="soft number">
                {inner.count.toLocaleString('en')} · {bytesText(inner.bytes)}
              </span>
            </button>
            {isOpen && (
              <Level
                folder={inner}
                depth={depth + 1}
                opened={opened}
                onToggle={onToggle}
                chosen={chosen}
                onChoose={onChoose}
              />
            )}
          </li>
        );
      })}
      {files.map((artifact) => (
        <li key={artifact.path} class={artifact.path === chosen ? 'chosen' : ''}>
          <button
            type="button"
            style={indent}
            aria-pressed={artifact.path === chosen}
            onClick={() => onChoose(artifact.path)}
          >
            <Icon name="file" size={14} />
            <bdi title={artifact.path}>{artifact.path.slice(folder.path.length)}</bdi>
            <span class="soft number">{bytesText(artifact.size)}</span>
          </button>
        </li>
      ))}
      {files.length < folder.files.length && (
        <li>
          <button type="button" class="as-link more" style={indent} onClick={() => setWhole(true)}>
            {(folder.files.length - files.length).toLocaleString('en')} more files
          </button>
        </li>
      )}
    </ul>
  );
}

/** Folders of the chosen file, each with its parents. */
const foldersAbove = (path: string | undefined): string[] => {
  const names = (path ?? '').split('/').slice(0, -1);
  return names.map((_, index) => `${names.slice(0, index + 1).join('/')}/`);
};

/** Artifacts as folders and files. A search opens all folders with a match. */
export function FileTree({
  artifacts,
  isSearch,
  chosen,
  onChoose,
}: {
  artifacts: readonly Artifact[];
  isSearch: boolean;
  chosen: string | undefined;
  onChoose: (path: string) => void;
}) {
  const tree = useMemo(() => treeOf(artifacts), [artifacts]);
  const all = artifacts.flatMap(({ path }) => foldersAbove(path));
  const [opened, setOpened] = useState<ReadonlySet<string>>(
    () => new Set(artifacts.length <= 30 ? all : foldersAbove(chosen)),
  );
  const toggle = (path: string) => {
    const next = new Set(opened);
    if (!next.delete(path)) next.add(path);
    setOpened(next);
  };
  return (
    <Level
      folder={tree}
      depth={0}
      opened={isSearch ? new Set(all) : opened}
      onToggle={toggle}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}
