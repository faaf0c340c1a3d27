import sharp, { type OutputInfo } from 'sharp';
import { endpoint as deletePicture } from '../../../functions/users/pictures/delete-profile-picture.endpoint.ts';
import { endpoint as putPicture } from '../../../functions/users/pictures/put-profile-picture.endpoint.ts';
import { endpoint as readPicture } from '../../../functions/users/pictures/read-profile-picture.endpoint.ts';
import { endpoint as readThumbnail } from '../../../functions/users/pictures/read-thumbnail.endpoint.ts';
import { objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { picturesPrefix } from '../../../shared/data/accounts/picture.ts';
import { testBucket } from '../../support/emulators.ts';
import { type TestUser, testService } from '../../support/service.ts';

type Headers = Record<string, string>;

/** The service with its picture operations, each for the caller's own picture unless another name is given. */
export async function pictureService() {
  const service = await testService();
  const objects = objectWriter(s3(service.environment), testBucket);
  const at = (as: TestUser, username = as.user.username) => ({ as, path: { username } });
  return {
    ...service,
    objects,
    put: (
      as: TestUser,
      body: Uint8Array | string,
      mediaType: string,
      headers: Headers = {},
      whose?: string,
    ) =>
      service.call(putPicture, {
        ...at(as, whose),
        body,
        headers: { 'Content-Type': mediaType, ...headers },
      }),
    remove: (as: TestUser, headers: Headers = {}, whose?: string) =>
      service.call(deletePicture, { ...at(as, whose), headers }),
    picture: (as: TestUser, headers: Headers = {}, whose?: string) =>
      service.call(readPicture, { ...at(as, whose), headers }),
    thumbnail: (as: TestUser, headers: Headers = {}, whose?: string) =>
      service.call(readThumbnail, { ...at(as, whose), headers }),
    /** Keys of all that is stored of a user's pictures, without their prefix. */
    stored: async ({ user: { user_id } }: TestUser) => {
      const prefix = picturesPrefix(user_id);
      return (await objects.list(prefix)).objects.map(({ key }) => key.slice(prefix.length));
    },
  };
}

export type PictureService = Awaited<ReturnType<typeof pictureService>>;

export type Colour = readonly [red: number, green: number, blue: number];

export const red: Colour = [255, 0, 0];
export const green: Colour = [0, 160, 0];
export const blue: Colour = [0, 0, 255];
export const yellow: Colour = [255, 220, 0];

/** A picture whose quarters have these colours, from the top left by rows. */
export function quarters(colours: readonly [Colour, Colour, Colour, Colour], side = 240) {
  const data = Buffer.alloc(side * side * 3);
  for (let at = 0; at < side * side; at += 1) {
    const right = at % side >= side / 2 ? 1 : 0;
    const below = Math.floor(at / side) >= side / 2 ? 2 : 0;
    data.set(colours[right + below] ?? red, at * 3);
  }
  return sharp(data, { raw: { width: side, height: side, channels: 3 } });
}

/** A picture of one colour. */
export const plain = (colour: Colour, width = 40, height = width) =>
  sharp({ create: { width, height, channels: 3, background: { r: colour[0], g: colour[1], b: colour[2] } } });

/** A picture that is hard to compress. */
export function noise(width: number, height: number) {
  const data = Buffer.alloc(width * height * 3);
  let state = 1;
  for (let at = 0; at < data.length; at += 1) {
    state = (state * 48_271) % 2_147_483_647;
    data[at] = state & 0xff;
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/** The name of the colour, among those above, that is nearest to a point; `x` and `y` from 0 to 1. */
export async function colourAt(bytes: Uint8Array, x: number, y: number): Promise<string> {
  const { data, info }: { data: Buffer; info: OutputInfo } = await sharp(bytes)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
  const named = Object.entries({ red, green, blue, yellow }).map(([name, colour]) => ({
    name,
    distance: colour.reduce((sum, value, index) => sum + Math.abs(value - (data[at + index] ?? 0)), 0),
  }));
  const [nearest] = named.sort((one, other) => one.distance - other.distance);
  return nearest !== undefined && nearest.distance < 60
    ? nearest.name
    : `neither: ${data.subarray(at, at + 3).join()}`;
}
