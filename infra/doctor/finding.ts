/**
 * `orphan`: nothing that it belongs to is there any more, and no purge will remove it. `unnamed`: an object whose
 * owner is there, though no record names it. `stale`: a job on the list of unfinished ones that is none. `count`: a
 * kept count that is not what there is. `set-aside`: a row of unfinished work that needs a record which cannot be read.
 * `unreadable`: a record that this version cannot read. `folder`: on this machine, what a run or a deleted project has
 * left on the disk.
 */
export interface Finding {
  kind: 'orphan' | 'unnamed' | 'stale' | 'count' | 'set-aside' | 'unreadable' | 'folder';
  /** Key of the item, as `pk/sk`, or of the object. */
  where: string;
  why: string;
}
