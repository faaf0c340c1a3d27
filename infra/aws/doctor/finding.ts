/**
 * `orphan`: its owner is gone, and no purge will remove it. `unnamed`: an object whose owner is there, though no
 * record names it. `stale`: a finished job on the list of unfinished ones. `count`: a count that differs from the
 * items. `set-aside`: a row of unfinished work that needs a record which cannot be read. `unreadable`: a record that
 * this version cannot read. `folder`: on this machine, a folder that a run or a deleted project left.
 */
export interface Finding {
  kind: 'orphan' | 'unnamed' | 'stale' | 'count' | 'set-aside' | 'unreadable' | 'folder';
  /** Key of the item, as `pk/sk`, or of the object. */
  where: string;
  why: string;
}
