// Scaling of pictures from tools and users that are larger than the provider allows. It needs a
// canvas; without one the session leaves such a picture out and tells the model so.

import { guarded } from "../binding/guard.js";
import { binding } from "../binding/instance.js";
import { endpointOf } from "../binding/providers.js";
import { base64Of, ofBase64 } from "../bytes.js";
import type { Outcome, Part } from "../json/data.js";
import { hasCanvas } from "../platform/platform.js";

type Image = Extract<Part, { type: "image" }>;

/** The provider's limits for one picture. */
interface Limits {
  /** Most characters of base64. */
  base64: number;
  /** Most pixels of the longer side, however many pictures there are. */
  side: number;
}

/** The longer side in pixels below which no picture is scaled: less shows nothing of use. */
const LEAST_SIDE = 200;
/** The formats that a canvas writes and every provider reads. */
const TYPES = ["image/png", "image/jpeg", "image/webp"];

/** Returns whether parts hold pictures that may have to be made smaller. */
export function mayNeedFitting(parts: readonly Part[]): boolean {
  // The parts are not checked yet: the session does that, and tells what does not fit.
  const isPicture = (part: Partial<Image> | null): boolean => {
    return part?.type === "image" && typeof part.data === "string";
  };
  return hasCanvas() && (parts as (Partial<Image> | null)[]).some(isPicture);
}

/** Returns the outcome with its pictures no larger than the provider allows. */
export async function fitted<T extends Partial<Outcome>>(
  outcome: T,
  provider: string | undefined,
): Promise<T> {
  const { parts = [] } = outcome;
  if (!mayNeedFitting(parts)) return outcome;
  return { ...outcome, parts: await fittedParts(parts, provider) };
}

/** Returns the parts with their pictures no larger than the provider allows. */
export async function fittedParts(
  parts: readonly Part[],
  provider: string | undefined,
): Promise<Part[]> {
  const limits = limitsOf(provider);
  const all = parts.map(async (part) => (part?.type === "image" ? smaller(part, limits) : [part]));
  return (await Promise.all(all)).flat();
}

function limitsOf(provider: string | undefined): Limits {
  const name = endpointOf(provider)?.name ?? "";
  const [base64 = Infinity, side = 0] = guarded(() => binding().pictureLimits(name));
  return { base64, side: side === 0 ? Infinity : side };
}

// The picture; if it had to be scaled, with a text that tells both sizes, so that the model can
// convert coordinates.
async function smaller(image: Image, limits: Limits): Promise<Part[]> {
  const { base64, side } = limits;
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(new Blob([ofBase64(image.data)], { type: image.media_type }));
  } catch {
    return kept(image, limits);
  }
  const { width, height } = bitmap;
  const longer = Math.max(width, height);
  if (longer <= side && image.data.length <= base64) {
    bitmap.close();
    return [image];
  }
  try {
    // The size of the encoded picture is not known before it is encoded, hence one try after
    // another, each with about half the pixels.
    for (let to = Math.min(side, longer); to >= LEAST_SIDE; to = Math.floor(to * 0.7)) {
      const scale = to / longer;
      const [w, h] = [width, height].map((each) => Math.max(1, Math.round(each * scale)));
      const made = await drawn(bitmap, [w ?? 1, h ?? 1], image.media_type, base64);
      if (made === undefined) continue;
      const text = `[The picture has ${width} × ${height} pixels and is shown with ${w} × ${h}.]`;
      return [made, { type: "text", text }];
    }
  } catch {
    // The browser may not have the memory for a canvas of that size.
  } finally {
    bitmap.close();
  }
  return kept(image, limits);
}

// A picture that cannot be scaled is left to the session to judge, unless it exceeds every limit.
function kept(image: Image, { base64 }: Limits): Part[] {
  if (!(image.data?.length > base64)) return [image];
  const [size, most] = [image.data.length, base64].map((each) => Math.floor((each / 4) * 3));
  const text =
    `[The picture has ${size} bytes, of which at most ${most} are sent, and cannot be made ` +
    "smaller here, so it is left out]";
  return [{ type: "text", text }];
}

async function drawn(
  bitmap: ImageBitmap,
  [width, height]: [number, number],
  wanted: string,
  most: number,
): Promise<Image | undefined> {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, width, height);
  const own = TYPES.includes(wanted) ? wanted : "image/png";
  const blob = await canvas.convertToBlob({ type: own, quality: 0.9 });
  const data = base64Of(new Uint8Array(await blob.arrayBuffer()));
  return data.length <= most ? { type: "image", media_type: blob.type, data } : undefined;
}
