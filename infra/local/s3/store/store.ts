import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BlobFolder } from './blob-folder.ts';
import { Database } from './database.ts';
import { Garbage } from './garbage.ts';
import { Integrity } from './integrity.ts';
import { type Listing, type ListingQuery, listObjects } from './object-listing.ts';
import { ObjectStore } from './object-store.ts';
import { UploadStore } from './upload-store.ts';

/** The data of one folder. */
export interface Store {
  objects: ObjectStore;
  uploads: UploadStore;
  blobs: BlobFolder;
  list(query: ListingQuery): Listing;
  close(): Promise<void>;
}

/**
 * Open the data folder, create missing buckets, and clean up after a crash.
 * @throws Error if another process has the folder open
 */
export async function openStore(folder: string, buckets: readonly string[]): Promise<Store> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Open the database first, because it takes the lock. A clean-up must not run in a folder that another process
  // uses.
  const database = new Database(join(folder, 'index.sqlite'));
  try {
    database.write(() => {
      for (const name of buckets) database.sql('INSERT OR IGNORE INTO buckets VALUES (?)').run(name);
    });
    const blobs = new BlobFolder(folder);
    const referenced = 'SELECT 1 FROM segments WHERE file = ? UNION ALL SELECT 1 FROM parts WHERE file = ?';
    await blobs.recover((id) => database.sql(referenced).get(id, id) !== undefined);
    const garbage = new Garbage(database, blobs);
    garbage.collect();
    const integrity = new Integrity(database, blobs);
    const objects = new ObjectStore(database, blobs, garbage, integrity);
    return {
      objects,
      uploads: new UploadStore({ database, blobs, garbage, integrity, objects }),
      blobs,
      list: (query) => listObjects(database, query),
      close: async () => {
        await garbage.settled();
        database.close();
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
