/** Has no types of its own: CRC16 of a key, or of its hash tag, as Redis Cluster takes it. */
declare module 'cluster-key-slot' {
  export default function slotOf(key: string): number;
}
