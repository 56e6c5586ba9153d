/** The package has no types. It returns the slot of a key on Redis Cluster: CRC16 of the key, or of its hash tag. */
declare module 'cluster-key-slot' {
  export default function slotOf(key: string): number;
}
