package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// The used parts of an OCI image (https://github.com/opencontainers/image-spec).
type (
	descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int               `json:"size"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	imageIndex struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Manifests     []descriptor `json:"manifests"`
	}
	imageManifest struct {
		SchemaVersion int               `json:"schemaVersion"`
		MediaType     string            `json:"mediaType"`
		Config        descriptor        `json:"config"`
		Layers        []descriptor      `json:"layers"`
		Annotations   map[string]string `json:"annotations"`
	}
	imageConfig struct {
		Created      string          `json:"created"`
		Architecture string          `json:"architecture"`
		OS           string          `json:"os"`
		Config       containerConfig `json:"config"`
		RootFS       rootFS          `json:"rootfs"`
		History      []history       `json:"history"`
	}
	containerConfig struct {
		User       string            `json:"User"`
		Entrypoint []string          `json:"Entrypoint"`
		WorkingDir string            `json:"WorkingDir"`
		Labels     map[string]string `json:"Labels"`
	}
	rootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	history struct {
		Created   string `json:"created"`
		CreatedBy string `json:"created_by"`
	}
	// dockerManifest lists an image for versions of "docker load" that do not read OCI archives.
	dockerManifest struct {
		Config   string   `json:"Config"`
		RepoTags []string `json:"RepoTags"`
		Layers   []string `json:"Layers"`
	}
)

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// packImage writes a container image as an OCI archive, which "podman load" and "docker load" read. It
// has the content of the Containerfile: one static program, its licences, and no root user.
func (p *program) packImage() error {
	licence, err := p.readFile("LICENSE")
	if err != nil {
		return err
	}
	layer, err := p.newTarball([]file{
		{"LICENSE", licence, false}, {"THIRD_PARTY_LICENSES.txt", p.notices, false}, {"data/", nil, false}, {"dptrain", p.code, true},
	})
	if err != nil {
		return err
	}
	uncompressed, err := gunzip(layer)
	if err != nil {
		return err
	}
	version := p.version[1:]
	created := p.when.Format(time.RFC3339)
	labels := map[string]string{
		"org.opencontainers.image.title":       "dptrain",
		"org.opencontainers.image.description": "Differentially private training of regressions and classifiers",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.source":      repository,
		"org.opencontainers.image.version":     version,
		"org.opencontainers.image.created":     created,
	}
	files := []file{{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}` + "\n"), false}, {"blobs/", nil, false}, {"blobs/sha256/", nil, false}}
	addBlob := func(mediaType string, content []byte) descriptor {
		hash := fmt.Sprintf("%x", sha256.Sum256(content))
		files = append(files, file{"blobs/sha256/" + hash, content, false})
		return descriptor{MediaType: mediaType, Digest: "sha256:" + hash, Size: len(content)}
	}
	config, err := json.Marshal(imageConfig{
		Created: created, Architecture: p.arch, OS: p.system,
		Config:  containerConfig{User: "65532:65532", Entrypoint: []string{"/dptrain"}, WorkingDir: "/data", Labels: labels},
		RootFS:  rootFS{"layers", []string{fmt.Sprintf("sha256:%x", sha256.Sum256(uncompressed))}},
		History: []history{{created, "scripts/release.sh"}},
	})
	if err != nil {
		return err
	}
	layerBlob, configBlob := addBlob(layerType, layer), addBlob(configType, config)
	manifest, err := json.Marshal(imageManifest{2, manifestType, configBlob, []descriptor{layerBlob}, labels})
	if err != nil {
		return err
	}
	manifestBlob := addBlob(manifestType, manifest)
	tag := "localhost/dptrain:" + version
	manifestBlob.Annotations = map[string]string{"io.containerd.image.name": tag, "org.opencontainers.image.ref.name": version}
	index, err := json.Marshal(imageIndex{2, indexType, []descriptor{manifestBlob}})
	if err != nil {
		return err
	}
	docker, err := json.Marshal([]dockerManifest{{blobPath(configBlob), []string{tag}, []string{blobPath(layerBlob)}}})
	if err != nil {
		return err
	}
	files = append(files, file{"index.json", index, false}, file{"manifest.json", docker, false})
	var out bytes.Buffer
	if err := writeTar(&out, files, p.when); err != nil {
		return err
	}
	return p.writeFile(p.baseName()+".oci.tar", out.Bytes())
}

// blobPath returns the path of a blob in the archive.
func blobPath(d descriptor) string { return "blobs/sha256/" + d.Digest[len("sha256:"):] }

func gunzip(content []byte) ([]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(zr)
}

// writeTar writes files in their order, with the folders that come before them.
func writeTar(w io.Writer, files []file, when time.Time) error {
	tw := tar.NewWriter(w)
	for _, f := range files {
		header := tar.Header{
			Name:    f.name,
			Mode:    f.fileMode(),
			Size:    int64(len(f.content)),
			ModTime: when,
			Format:  tar.FormatUSTAR,
			Uname:   "root",
			Gname:   "root",
		}
		if f.content == nil {
			header.Typeflag = tar.TypeDir
			header.Mode = 0o755
		}
		if err := tw.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := tw.Write(f.content); err != nil {
			return err
		}
	}
	return tw.Close()
}
