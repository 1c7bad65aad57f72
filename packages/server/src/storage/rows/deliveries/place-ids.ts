import { type Cipher, createCipheriv, randomFillSync } from 'node:crypto';
import { type Session, statement } from '../../statement.ts';

const BLOCK = 16;
/** The random bytes of an id; the six after them are the place, XORed with a pad derived from these. */
const RANDOM = 10;
const PLACE = BLOCK - RANDOM;
const DRAWN = 256;

/**
 * Ids that look like any UUID v4, and tell whoever has the key where the row is: the place is encrypted under the
 * id's own random part (AES as a pseudo-random function of it). An index over random ids would cost more than the
 * rest of a delivery's row, because every insert dirties another page; these ids need none.
 */
export class PlaceIds {
  readonly #cipher: Cipher;
  /** Drawn and encrypted in bulk: one call per id would cost more than the id. */
  readonly #random = Buffer.alloc(DRAWN * BLOCK);
  #pads: Buffer = Buffer.alloc(0);
  #next = DRAWN;
  /** An id is stored right after it is made, and the store then asks for its place. */
  #last = { id: '', place: 0 };

  constructor(key: Uint8Array) {
    this.#cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  }

  idAt(place: number): string {
    if (this.#next === DRAWN) this.#draw();
    const at = this.#next++ * BLOCK;
    const block = this.#random.subarray(at, at + BLOCK);
    block.writeUIntBE(place, RANDOM, PLACE);
    for (let i = RANDOM; i < BLOCK; i++) block[i] = (block[i] ?? 0) ^ (this.#pads[at + i] ?? 0);
    this.#last = { id: toUuid(block.toString('hex')), place };
    return this.#last.id;
  }

  /** Where the row of this id is, if the id is ours: the row itself must confirm it. */
  placeOf(id: string): number {
    if (id === this.#last.id) return this.#last.place;
    const block = Buffer.from(id.replaceAll('-', ''), 'hex');
    if (block.length !== BLOCK) return 0;
    const hidden = Buffer.from(block.subarray(RANDOM));
    block.fill(0, RANDOM);
    const pad = this.#cipher.update(block);
    for (let i = 0; i < PLACE; i++) hidden[i] = (hidden[i] ?? 0) ^ (pad[RANDOM + i] ?? 0);
    return hidden.readUIntBE(0, PLACE);
  }

  #draw(): void {
    randomFillSync(this.#random);
    for (let at = 0; at < this.#random.length; at += BLOCK) {
      this.#random[at + 6] = ((this.#random[at + 6] ?? 0) & 0x0f) | 0x40; // version 4
      this.#random[at + 8] = ((this.#random[at + 8] ?? 0) & 0x3f) | 0x80; // RFC 9562's variant
      this.#random.fill(0, at + RANDOM, at + BLOCK);
    }
    this.#pads = this.#cipher.update(this.#random);
    this.#next = 0;
  }
}

function toUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const keyOf = statement<{ space: string }>()((db, p) =>
  db.selectFrom('id_keys').select('key').where('space_id', '=', p.space),
);

/** The key is stored in the clear: it hides places from those who see ids, not from those who have the file. */
export class KeptPlaceIds {
  #ids: PlaceIds | null = null;

  /** Read once, by the first session that asks: the migration has made it, and it never changes. */
  async get(session: Session): Promise<PlaceIds> {
    this.#ids ??= new PlaceIds(Buffer.from(await readKey(session), 'hex'));
    return this.#ids;
  }
}

async function readKey(session: Session): Promise<string> {
  const row = await session.one(keyOf, { space: '' });
  if (row === undefined) throw new Error('the store has lost the key of its ids');
  return row.key;
}
