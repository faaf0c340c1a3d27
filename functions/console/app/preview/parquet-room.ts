import type { AsyncBuffer, FileMetaData } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';

/** Memory for the pages that are read, in bytes: a file of 31 KB may unpack to a gigabyte. */
const maxBytes = 256_000_000;

/** A file of which the part to be shown needs too much memory. */
class ParquetRoomError extends Error {
  override readonly name = 'ParquetRoomError';
  override readonly message =
    `Its first rows take more than ${maxBytes / 1e6} MB when they are unpacked. Download the file to read it.`;
}

/**
 * Count what is read and unpacked of a Parquet file, and stop before it is too much. The sizes are those of the headers of
 * pages, by which the memory is taken. The footer may say anything.
 */
export class ParquetRoom {
  #left: number;

  constructor(bytes = maxBytes) {
    this.#left = bytes;
  }

  /** @throws ParquetRoomError if so many bytes do not fit */
  take(bytes: number): void {
    // A size below 0, or none, is no size.
    if (!(bytes >= 0 && bytes <= this.#left)) throw new ParquetRoomError();
    this.#left -= bytes;
  }

  /** The file, whose parts are counted before they are read, and their pages before they are unpacked. */
  counted(file: AsyncBuffer, metadata: FileMetaData, rows: number): AsyncBuffer {
    const columns = metadata.row_groups.flatMap((group) => group.columns);
    const indexes = new Set(columns.map((column) => Number(column.offset_index_offset)));
    /** Beginnings of columns without lists: of these, pages are read until there are enough rows. */
    const flat = new Set(
      columns.flatMap(({ meta_data: data }) =>
        data?.path_in_schema.length === 1
          ? [Number(data.dictionary_page_offset || data.data_page_offset)]
          : [],
      ),
    );
    return {
      byteLength: file.byteLength,
      slice: async (start, end = file.byteLength) => {
        this.take(end - start);
        const part = await file.slice(start, end);
        if (!indexes.has(start)) this.#countPages(part, flat.has(start) ? rows : Number.POSITIVE_INFINITY);
        return part;
      },
    };
  }

  #countPages(part: ArrayBuffer, rows: number): void {
    const reader = { view: new DataView(part), offset: 0 };
    // As hyparquet reads a column.
    for (let found = 0; found < rows && reader.offset < part.byteLength - 1; ) {
      const header = parquetHeader(reader);
      const page = header.data_page_header ?? header.data_page_header_v2;
      const values = page?.num_values ?? header.dictionary_page_header?.num_values ?? 0;
      this.take(header.uncompressed_page_size);
      this.take(values * bytesOfValue);
      if (page !== undefined) found += values;
      if (!(header.compressed_page_size >= 0)) throw new Error('The file is damaged: a page has no size.');
      reader.offset += header.compressed_page_size;
    }
  }
}

/** A value in a list of JavaScript, with its levels. */
const bytesOfValue = 16;
